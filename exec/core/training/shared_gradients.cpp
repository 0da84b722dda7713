#include "exec/core/training/shared_gradients.h"

#include <algorithm>
#include <cassert>

namespace debubble::exec {

namespace {

/// A copy of a tied parameter: the reduced gradient that this rank holds of it.
struct TiedCopy {
    TensorView gradient;
    bool speaks = false;  ///< whether it represents its stage in a sum over several ranks
};

/// The range of the reduced gradients on this rank: all of them, or only its share.
FlatRange reduced(const UnitState& unit, const StatePolicy& policy) {
    return policy.zero_stage == 0 ? unit.whole() : unit.owned();
}

std::vector<TiedCopy> tied_copies(const std::vector<LocalStage>& stages,
                                  const TrainingGroups& groups) {
    std::vector<TiedCopy> copies;
    for (const LocalStage& local : stages)
        for (const UnitState& unit : local.state->units())
            if (unit.unit().tied)
                copies.push_back({unit.held_gradients(reduced(unit, local.state->policy())),
                                  groups.stages.at(local.stage).first_holder});
    return copies;
}

/// Whether each rank of a tensor group has a part of the gradient: that of its tokens with sequence
/// parallelism, or that of its heads.
bool is_summed(const models::Parameter& parameter, bool sequence_parallel) {
    return parameter.sharding == models::Sharding::Replicated &&
           (sequence_parallel || parameter.of_own_heads);
}

/// The gradients of replicated parameters of a tensor group, range by range.
std::vector<TensorView> replicated_gradients(const std::vector<LocalStage>& stages,
                                             bool sequence_parallel) {
    std::vector<TensorView> pieces;
    for (const LocalStage& local : stages) {
        const TrainedStage& state = *local.state;
        for (const UnitState& unit : state.units()) {
            for (const UnitSlot& slot : unit.unit().slots) {
                const models::Parameter& parameter = state.parameters()[slot.parameter];
                if (parameter.expert || !is_summed(parameter, sequence_parallel)) continue;
                const FlatRange piece = intersection(slot.range, reduced(unit, state.policy()));
                if (piece.count > 0) pieces.push_back(unit.held_gradients(piece));
            }
        }
    }
    return pieces;
}

}  // namespace

bool represents(const TrainedStage& state, const UnitSlot& slot) {
    const models::Parameter& parameter = state.parameters()[slot.parameter];
    if (!parameter.tied_to.empty()) return false;
    return parameter.sharding != models::Sharding::Replicated ||
           state.cutting_rank(slot.parameter) == 0;
}

Interval sum_tied_gradients(const std::vector<LocalStage>& stages, TrainingGroups& groups,
                            Kernels& kernels, Arena& arena, Deadline deadline) {
    const std::vector<TiedCopy> copies = tied_copies(stages, groups);
    const Clock::time_point now = Clock::now();
    Interval interval{now, now};
    if (copies.empty()) return interval;
    const StatePolicy& policy = stages.front().state->policy();
    const TensorView& first = copies.front().gradient;
    ArenaTensor sum = arena.allocate(first.shape, groups.tied ? policy.wire : first.type,
                                     MemoryClass::Buffers, "tied gradient");
    if (!groups.tied) {  // all copies are on this rank
        kernels.copy(first, sum.view());
        for (std::size_t c = 1; c < copies.size(); ++c) kernels.add(copies[c].gradient, sum.view());
    } else {
        ArenaTensor term;
        kernels.fill_zero(sum.view());
        for (const TiedCopy& copy : copies) {
            if (!copy.speaks) continue;
            if (!term)
                term = arena.allocate(first.shape, policy.wire, MemoryClass::Workspace,
                                      "tied gradient of a stage");
            kernels.copy(copy.gradient, term.view());
            kernels.add(term.view(), sum.view());
        }
        interval = groups.tied->all_reduce(sum.view(), Reduction::Sum, "the tied gradient")
                       ->wait(deadline);
    }
    for (const TiedCopy& copy : copies) kernels.copy(sum.view(), copy.gradient);
    return interval;
}

void sum_replicated_gradients(const std::vector<LocalStage>& stages, TrainingGroups& groups,
                              bool sequence_parallel, Kernels& kernels, Arena& arena,
                              Deadline deadline) {
    if (!groups.tensor) return;
    const std::vector<TensorView> pieces = replicated_gradients(stages, sequence_parallel);
    std::int64_t elements = 0;
    for (const TensorView& piece : pieces) elements += piece.shape.elements();
    if (elements == 0) return;
    const ArenaTensor packed = arena.allocate({elements}, pieces.front().type, MemoryClass::Buffers,
                                              "gradients of whole parameters");
    const auto each = [&](auto&& move) {
        std::int64_t first = 0;
        for (const TensorView& piece : pieces) {
            move(piece, part_of(packed.view(), first, piece.shape.elements()));
            first += piece.shape.elements();
        }
    };
    each([&](const TensorView& piece, const TensorView& part) { kernels.copy(piece, part); });
    groups.tensor->all_reduce(packed.view(), Reduction::Sum, "gradients of whole parameters")
        ->wait(deadline);
    each([&](const TensorView& piece, const TensorView& part) { kernels.copy(part, piece); });
}

void sum_expert_loads(const std::vector<LocalStage>& stages, TrainingGroups& groups,
                      bool sequence_parallel, Deadline deadline) {
    for (const auto& [stage, group] : groups.stages) {
        const auto local = std::ranges::find(stages, stage, &LocalStage::stage);
        if (local == stages.end() || local->state->routers().layers().empty()) continue;
        const TensorView loads = local->state->routers().loads();
        const auto sum_over = [&](Communicator* ranks) {
            if (ranks == nullptr) return;
            ranks->all_reduce(loads, Reduction::Sum, "loads of experts")->wait(deadline);
        };
        sum_over(group.everyone ? group.everyone.get() : groups.replicas.get());
        if (sequence_parallel) sum_over(groups.tensor.get());
    }
}

void sum_of_squares(const std::vector<LocalStage>& stages, const TrainingGroups& groups,
                    Kernels& kernels, TensorView total) {
    kernels.fill_zero(total);
    for (const LocalStage& local : stages) {
        if (!groups.stages.at(local.stage).first_holder) continue;
        const TrainedStage& state = *local.state;
        for (const UnitState& unit : state.units()) {
            for (const UnitSlot& slot : unit.unit().slots) {
                if (!represents(state, slot)) continue;
                const FlatRange piece = intersection(slot.range, unit.owned());
                if (piece.count > 0) kernels.sum_of_squares(unit.held_gradients(piece), total);
            }
        }
    }
}

}  // namespace debubble::exec
