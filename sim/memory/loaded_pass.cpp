#include "sim/memory/loaded_pass.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/graph/operator_runs.h"
#include "sim/memory/pass_memory.h"

namespace debubble::sim {
namespace {

using models::Step;

/// For rounding: bytes are whole, and shares of them are not.
constexpr double kPart = 1e-6;

/// True if `a` is at least `b` for all loads, none of which is below the even one.
bool covers(const LoadedMoment& a, const LoadedMoment& b) {
    return a.level.even >= b.level.even &&
           std::ranges::equal(a.level.more, b.level.more, std::ranges::greater_equal{});
}

/// Follows the levels of a pass, step by step.
class Levels {
public:
    Levels(const TwoLoads& stage, const models::PassSteps& pass, const HeldByPlace& held,
           bool again, bool of_pairs)
        : stage_(stage),
          pass_(pass),
          at_(pass, held),
          again_(again),
          of_pairs_(of_pairs),
          layer_of_(layers_of_rows(stage)) {
        level_.more.assign(stage.layers.size(), 0);
    }

    LoadedPiece run(std::size_t begin, std::size_t end) {
        LoadedPiece piece;
        piece.moments.push_back({level_, {}});
        for (std::size_t i = begin; i < end; ++i) {
            const Step& step = pass_.steps[i];
            if (step.kind != Step::Kind::Run) change(step);
            if (step.kind == Step::Kind::Free) continue;
            see(piece.moments, {with(total(at_.at(i))), total(at_.at(i))});
        }
        piece.after = level_;
        return piece;
    }

private:
    LoadedLevel with(Bytes more) const {
        LoadedLevel level = level_;
        level.even += more;
        return level;
    }
    Bytes added(const models::StageGraph& graph, const models::Tensor& tensor) const {
        return of_pairs_ ? tensor.bytes : added_by(graph, tensor, tensor.bytes, again_);
    }
    void change(const Step& step) {
        const models::Tensor& even = stage_.even->tensors[step.index];
        const models::Tensor& higher = stage_.higher->tensors[step.index];
        const bool frees = step.kind == Step::Kind::Free;
        const Bytes now = frees ? Bytes{-even.bytes.count} : added(*stage_.even, even);
        const Bytes then = frees ? Bytes{-higher.bytes.count} : added(*stage_.higher, higher);
        level_.even += now;
        if (now == then) return;
        level_.more[layer_of_[step.index].value()] += then.count - now.count;
    }
    /// Of moments with the same rows only the fullest one counts, and of others those that no other
    /// one covers.
    static void see(std::vector<LoadedMoment>& moments, LoadedMoment moment) {
        if (std::ranges::any_of(moments, [&](const auto& m) { return covers(m, moment); })) return;
        std::erase_if(moments, [&](const auto& m) { return covers(moment, m); });
        moments.push_back(std::move(moment));
    }

    const TwoLoads& stage_;
    const models::PassSteps& pass_;
    HeldAtSteps at_;
    bool again_;
    bool of_pairs_;
    std::vector<std::optional<std::size_t>> layer_of_;  ///< by tensor
    LoadedLevel level_;
};

MemoryByClass as_one_class(Bytes bytes) {
    MemoryByClass classes{};
    classes.front() = bytes;
    return classes;
}

PassPiece at(const LoadedPiece& piece, std::span<const double> shares) {
    const LoadedPiece::Fullest fullest = piece.fullest(shares);
    return {as_one_class(fullest.level),
            as_one_class(fullest.unsharded),
            as_one_class(piece.after.at(shares)),
            {}};
}

}  // namespace

Bytes LoadedLevel::at(std::span<const double> shares) const {
    double sum = 0;
    for (std::size_t i = 0; i < more.size(); ++i) sum += static_cast<double>(more[i]) * shares[i];
    return even + Bytes{static_cast<std::int64_t>(std::ceil(sum - kPart))};
}

LoadedPiece::Fullest LoadedPiece::fullest(std::span<const double> shares) const {
    Fullest most{moments.front().level.at(shares), moments.front().unsharded};
    for (const LoadedMoment& moment : moments) {
        const Bytes level = moment.level.at(shares);
        if (level > most.level) most = {level, moment.unsharded};
    }
    return most;
}

bool differ_in_bytes_alone(const models::StageGraph& even, const models::StageGraph& higher) {
    const auto same_uses = [](const models::Operator& a, const models::Operator& b) {
        return a.forward_uses == b.forward_uses && a.backward_input_uses == b.backward_input_uses &&
               a.backward_weight_uses == b.backward_weight_uses && a.saved == b.saved;
    };
    const auto same_tensor = [](const models::Tensor& a, const models::Tensor& b) {
        return a.name == b.name && a.held_as == b.held_as && a.slices == b.slices;
    };
    return std::ranges::equal(even.operators, higher.operators, same_uses) &&
           std::ranges::equal(even.tensors, higher.tensors, same_tensor);
}

std::vector<std::optional<std::size_t>> layers_of_rows(const TwoLoads& stage) {
    std::vector<std::optional<std::size_t>> layers(stage.even->tensors.size());
    for (const models::Operator& op : stage.even->operators) {
        if (!op.layer) continue;
        const auto found = std::ranges::find(stage.layers, *op.layer);
        if (found == stage.layers.end()) continue;
        const std::size_t layer = found - stage.layers.begin();
        for (const auto* uses :
             {&op.forward_uses, &op.backward_input_uses, &op.backward_weight_uses})
            for (const int tensor : *uses)
                if (stage.even->tensors[tensor].bytes != stage.higher->tensors[tensor].bytes)
                    layers[tensor] = layer;
    }
    return layers;
}

LoadedPiece loaded_pass(const TwoLoads& stage, const models::PassSteps& pass,
                        const HeldByPlace& held, bool again) {
    return Levels(stage, pass, held, again, false).run(0, pass.steps.size());
}

LoadedTurns loaded_turns(const TwoLoads& stage, const models::PassSteps& pass,
                         const HeldByPlace& held) {
    Levels levels(stage, pass, held, false, true);
    const models::PassTurns turns = models::turns_of(pass);
    LoadedTurns loaded;
    loaded.before = levels.run(0, turns.before);
    std::size_t begin = turns.before;
    for (const models::PassTurns::Layer& layer : turns.layers) {
        std::vector<LoadedTurns::Part>& parts = loaded.layers.emplace_back();
        for (const models::TurnSteps& steps : layer.parts) {
            parts.push_back({steps.part, levels.run(begin, steps.end)});
            begin = steps.end;
        }
    }
    loaded.after = levels.run(begin, turns.end);
    return loaded;
}

PassPieces LoadedTurns::at(std::span<const double> shares) const {
    PassPieces pieces;
    pieces.before = sim::at(before, shares);
    for (const std::vector<Part>& layer : layers) {
        std::vector<LayerPiece>& placed = pieces.layers.emplace_back();
        for (const Part& part : layer) placed.push_back({part.part, sim::at(part.piece, shares)});
    }
    pieces.after = sim::at(after, shares);
    return pieces;
}

}  // namespace debubble::sim
