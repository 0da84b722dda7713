#include "sim/memory/pair_memory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "models/graph/operator_runs.h"

namespace debubble::sim {
namespace {

using models::Step;

/// A level of a pass and the piece that begins at it.
class Level {
public:
    MemoryByClass now{};

    /// `piece` with its levels beyond those of the pass's beginning.
    PassPiece add(const PassPiece& piece) {
        PassPiece placed = piece;
        for (std::size_t c = 0; c < kMemoryClasses; ++c) {
            placed.at_peak[c] += now[c];
            placed.after[c] += now[c];
        }
        now = placed.after;
        return placed;
    }
};

std::string_view kernel_of_step(const models::PassSteps& pass, std::size_t step) {
    for (std::size_t i = step; i < pass.steps.size(); ++i)
        if (pass.steps[i].kind == Step::Kind::Run) return pass.kernels[pass.steps[i].index].name;
    return {};
}

/// The steps [begin, end) by themselves.
PassPiece piece_of(const models::StageGraph& graph, const std::vector<Bytes>* sizes,
                   const models::PassSteps& pass, std::size_t begin, std::size_t end,
                   const HeldAtSteps& other) {
    PassPiece piece;
    Bytes most;
    for (std::size_t i = begin; i < end; ++i) {
        const Step& step = pass.steps[i];
        if (step.kind != Step::Kind::Run) {
            const models::Tensor& tensor = graph.tensors[step.index];
            const Bytes bytes = sizes != nullptr ? (*sizes)[step.index] : tensor.bytes;
            const std::int64_t sign = step.kind == Step::Kind::Allocate ? 1 : -1;
            piece.after[tensor.held_as] += Bytes{sign * bytes.count};
        }
        if (step.kind == Step::Kind::Free) continue;
        const Bytes level = total(piece.after) + total(other.at(i));
        if (level <= most) continue;
        most = level;
        piece.at_peak = piece.after;
        piece.unsharded = other.at(i);
        for (std::size_t c = 0; c < kMemoryClasses; ++c) piece.at_peak[c] += piece.unsharded[c];
        piece.op_at_peak = kernel_of_step(pass, i);
    }
    return piece;
}

/// Takes the fullest of several moments.
class Fullest {
public:
    /// Two microbatches at once: what both have gathered is there once.
    void see(const PassPiece& one, const PassPiece& other) {
        const bool less = total(one.unsharded) < total(other.unsharded);
        const MemoryByClass& twice = less ? one.unsharded : other.unsharded;
        const Bytes sum = total(one.at_peak) + total(other.at_peak) - total(twice);
        if (sum <= memory.peak_above) return;
        memory.peak_above = sum;
        for (std::size_t c = 0; c < kMemoryClasses; ++c) {
            memory.at_peak[c] = one.at_peak[c] + other.at_peak[c] - twice[c];
            memory.unsharded[c] = one.unsharded[c] + other.unsharded[c] - twice[c];
        }
        memory.op_at_peak = one.op_at_peak ? *one.op_at_peak : other.op_at_peak.value_or("");
    }
    PassMemory memory;
};

/// A pass that waits at a level.
PassPiece waiting(const Level& level) {
    return {level.now, {}, level.now, {}};
}

}  // namespace

PassPieces pieces_of(const models::StageGraph& graph, const models::PassSteps& pass, LayerFold fold,
                     const HeldByPlace& held, const std::vector<Bytes>* bytes) {
    const HeldAtSteps other(pass, held);
    const models::PassTurns turns = models::turns_of(pass);
    PassPieces pieces;
    Level level;
    pieces.before = level.add(piece_of(graph, bytes, pass, 0, turns.before, other));
    std::size_t begin = turns.before;
    for (const models::PassTurns::Layer& layer : turns.layers) {
        std::vector<LayerPiece> parts;
        for (const models::TurnSteps& steps : layer.parts) {
            parts.push_back({steps.part, piece_of(graph, bytes, pass, begin, steps.end, other)});
            begin = steps.end;
        }
        const int times = layer.number == fold.layer ? fold.times : 1;
        for (int k = 0; k < times; ++k) {
            std::vector<LayerPiece>& placed = pieces.layers.emplace_back(parts);
            for (LayerPiece& part : placed) part.piece = level.add(part.piece);
        }
    }
    pieces.after = level.add(piece_of(graph, bytes, pass, begin, turns.end, other));
    return pieces;
}

namespace {

/// One of the two passes as it takes turns.
class Turning {
public:
    Turning(const PassPieces& pass, const Level& other, Level& mine, Fullest& fullest)
        : pass_(pass), other_(other), mine_(mine), fullest_(fullest) {}

    void run_outside() {
        const bool first = !std::exchange(began_, true);
        run(first ? pass_.before : pass_.after);
    }
    bool begin_layer() {
        in_layer_ = next_ < pass_.layers.size();
        if (in_layer_) ++next_;
        at_ = 0;
        return in_layer_;
    }
    void compute() { run_if(models::TurnPart::Computes); }
    void exchange() { run_if(models::TurnPart::Asks); }
    void weights() { run_if(models::TurnPart::Weights); }
    void finish_layer() {
        while (in_layer_ && at_ < layer().size()) run(layer()[at_++].piece);
    }

private:
    const std::vector<LayerPiece>& layer() const { return pass_.layers[next_ - 1]; }
    void run_if(models::TurnPart part) {
        if (in_layer_ && at_ < layer().size() && layer()[at_].part == part)
            run(layer()[at_++].piece);
    }
    void run(const PassPiece& piece) {
        fullest_.see(piece, waiting(other_));
        mine_.now = piece.after;
    }

    const PassPieces& pass_;
    const Level& other_;
    Level& mine_;
    Fullest& fullest_;
    bool began_ = false;
    bool in_layer_ = false;
    std::size_t next_ = 0;  ///< layer
    std::size_t at_ = 0;    ///< part of the layer before it
};

}  // namespace

PassMemory pair_memory(const PassPieces& forward, const PassPieces& backward) {
    Fullest fullest;
    Level f, b;
    Turning of_forward(forward, b, f, fullest), of_backward(backward, f, b, fullest);
    models::take_turns(of_forward, of_backward);
    fullest.memory.held_after = total(forward.after.after) + total(backward.after.after);
    return fullest.memory;
}

}  // namespace debubble::sim
