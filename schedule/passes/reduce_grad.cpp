#include <algorithm>

#include "schedule/passes/edit.h"
#include "schedule/passes/passes.h"

namespace debubble {
namespace {

/// The number of reductions of each stage in which each of its holders takes part.
std::vector<int> reductions_of(const Schedule& schedule, bool after_every_backward) {
    std::vector<int> most(schedule.stage_count(), 0);
    std::vector<int> here(schedule.stage_count());
    for (const ActionList& list : schedule.ranks) {
        std::ranges::fill(here, 0);
        for (const Action& action : list)
            for_each_compute(action, [&](const Compute& c) {
                if (!makes_weight_gradient(c)) return;
                int& so_far = most[c.stage.index];
                so_far = std::max(so_far, ++here[c.stage.index]);
            });
    }
    if (!after_every_backward)
        for (int& count : most) count = std::min(count, 1);
    return most;
}

/// The earliest position of the n-th reduction of a stage.
struct Slot {
    std::size_t position;
    int number;
    Stage stage;
};

std::vector<Slot> slots_of(const ActionList& list, Stage stage, int reductions,
                           bool after_every_backward) {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < list.size(); ++i)
        for_each_compute(list[i], [&](const Compute& c) {
            if (c.stage == stage && makes_weight_gradient(c))
                slots.push_back({after_sends(list, i), static_cast<int>(slots.size()), stage});
        });
    if (!after_every_backward && slots.size() > 1) slots = {{slots.back().position, 0, stage}};
    // A holder with fewer microbatches than another adds nothing to the other reductions.
    while (static_cast<int>(slots.size()) < reductions)
        slots.push_back({list.size(), static_cast<int>(slots.size()), stage});
    return slots;
}

/// Reductions over several ranks must have one order on all of them, else they deadlock: by number,
/// then by stage, each as early as that allows.
void align(std::vector<Slot>& shared) {
    std::ranges::sort(shared, {}, [](const Slot& s) { return std::pair(s.number, s.stage); });
    std::size_t earliest = 0;
    for (Slot& slot : shared) earliest = slot.position = std::max(slot.position, earliest);
}

}  // namespace

/// ZeRO-0 and 1: once, after the last W or B of the stage. ZeRO-2 and 3: after every one, so that
/// gradients stay sharded. Where parameters are wrapped by layer (ZeRO-3 without shard_by_stage) it
/// happens inside the computes. A stage with several holders is reduced over them even without data
/// parallelism.
Schedule add_reduce_grad(Schedule schedule, const LowerOptions& options) {
    const int zero = options.data_parallel ? options.zero_stage : 0;
    const bool inside_computes = zero == 3 && !options.shard_by_stage;
    const bool every = zero >= 2 && !inside_computes;
    const std::vector<int> reductions = reductions_of(schedule, every);
    std::vector<int> holders(schedule.stage_count(), 0);
    for (const auto& row : schedule.placement.stages)
        for (const Stage stage : row) ++holders[stage.index];

    const auto is_reduced = [&](Stage stage) {
        return holders[stage.index] > 1 || (options.data_parallel && !inside_computes);
    };

    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
        if (std::ranges::none_of(schedule.placement.stages[r], is_reduced)) continue;
        ActionList& list = schedule.ranks[r];
        std::vector<Slot> shared;
        Edit edit(list);
        for (const Stage stage : schedule.placement.stages[r]) {
            if (!is_reduced(stage)) continue;
            const bool alone = holders[stage.index] == 1;
            const auto slots = slots_of(list, stage, reductions[stage.index], every);
            if (!alone) shared.insert(shared.end(), slots.begin(), slots.end());
            if (alone)
                for (const Slot& slot : slots) edit.before(slot.position, ReduceGrad{stage});
        }
        align(shared);
        for (const Slot& slot : shared) edit.before(slot.position, ReduceGrad{slot.stage});
        list = std::move(edit).apply();
    }
    return schedule;
}

}  // namespace debubble
