#include "sim/memory/pair_memory.h"

#include <algorithm>
#include <optional>
#include <string_view>

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
PassPiece piece_of(const models::StageGraph& graph, const models::PassSteps& pass,
                   std::size_t begin, std::size_t end, const HeldAtSteps& other) {
    PassPiece piece;
    Bytes most;
    for (std::size_t i = begin; i < end; ++i) {
        const Step& step = pass.steps[i];
        if (step.kind != Step::Kind::Run) {
            const models::Tensor& tensor = graph.tensors[static_cast<std::size_t>(step.index)];
            const std::int64_t sign = step.kind == Step::Kind::Allocate ? 1 : -1;
            piece.after[static_cast<std::size_t>(tensor.held_as)] +=
                Bytes{sign * tensor.bytes.count};
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
        memory.op_at_peak = one.op_at_peak.empty() ? other.op_at_peak : one.op_at_peak;
    }
    PassMemory memory;
};

/// A pass that waits at a level.
PassPiece waiting(const Level& level) {
    return {level.now, {}, level.now, {}};
}

}  // namespace

std::vector<std::size_t> ends_of_pieces(const models::PassSteps& pass) {
    std::vector<std::size_t> ends;
    std::optional<int> layer;
    std::size_t after_kernel = 0;
    std::size_t after_layer = 0;
    for (std::size_t i = 0; i < pass.steps.size(); ++i) {
        if (pass.steps[i].kind != Step::Kind::Run) continue;
        const int mine = pass.kernels[pass.steps[i].index].layer;
        if (mine >= 0) {
            if (layer != mine) ends.push_back(layer ? after_layer : after_kernel);
            layer = mine;
            after_layer = i + 1;
        }
        after_kernel = i + 1;
    }
    ends.push_back(layer ? after_layer : pass.steps.size());
    ends.push_back(pass.steps.size());
    return ends;
}

PassPieces pieces_of(const models::StageGraph& graph, const models::PassSteps& pass, LayerFold fold,
                     const HeldByPlace& held) {
    const HeldAtSteps other(pass, held);
    const std::vector<std::size_t> ends = ends_of_pieces(pass);
    PassPieces pieces;
    Level level;
    pieces.before = level.add(piece_of(graph, pass, 0, ends.front(), other));
    for (std::size_t i = 0; i + 2 < ends.size(); ++i) {
        const PassPiece layer = piece_of(graph, pass, ends[i], ends[i + 1], other);
        int index = -1;
        for (std::size_t step = ends[i]; step < ends[i + 1]; ++step)
            if (pass.steps[step].kind == Step::Kind::Run)
                index = pass.kernels[pass.steps[step].index].layer;
        const int times = index == fold.layer ? fold.times : 1;
        for (int k = 0; k < times; ++k) pieces.layers.push_back(level.add(layer));
    }
    pieces.after =
        level.add(piece_of(graph, pass, ends[ends.size() - 2], pass.steps.size(), other));
    return pieces;
}

PassMemory pair_memory(const PassPieces& forward, const PassPieces& backward) {
    Fullest fullest;
    Level f;
    Level b;
    const auto run = [&](const PassPiece* one, const PassPiece* other) {
        fullest.see(one ? *one : waiting(f), other ? *other : waiting(b));
        if (one) f.now = one->after;
        if (other) b.now = other->after;
    };
    run(&forward.before, nullptr);
    run(nullptr, &backward.before);
    const std::size_t longer = std::max(forward.layers.size(), backward.layers.size());
    for (std::size_t i = 0; i < longer; ++i)
        run(i < forward.layers.size() ? &forward.layers[i] : nullptr,
            i < backward.layers.size() ? &backward.layers[i] : nullptr);
    run(nullptr, &backward.after);
    run(&forward.after, nullptr);
    fullest.memory.held_after = total(forward.after.after) + total(backward.after.after);
    return fullest.memory;
}

}  // namespace debubble::sim
