#include <algorithm>

#include "schedule/passes/edit.h"
#include "schedule/passes/passes.h"

namespace debubble {
namespace {

/// ZeRO-1 and 2: after the step each rank has a part of its new parameters.
void gather_after_step(ActionList& list, const std::vector<Stage>& held) {
    const auto step = std::ranges::find_if(
        list, [](const Action& a) { return std::holds_alternative<OptimizerStep>(a); });
    if (step == list.end()) return;
    std::vector<Action> unshards;
    for (const Stage stage : held) unshards.emplace_back(Unshard{stage});
    list.insert(step + 1, unshards.begin(), unshards.end());
}

/// Range of positions in a list during which a stage's parameters are gathered.
struct Use {
    std::size_t gather;  ///< position of the compute before the first one, to gather during it
    std::size_t last;    ///< position of the last compute of the stage
};

std::vector<Use> uses_of(const ActionList& list, Stage stage) {
    std::vector<std::size_t> computes;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (is_compute(list[i])) computes.push_back(i);

    std::vector<Use> uses;
    std::size_t last = 0;  // index into computes
    for (std::size_t n = 0; n < computes.size(); ++n) {
        bool used = false;
        for_each_compute(list[computes[n]], [&](const Compute& c) { used |= c.stage == stage; });
        if (!used) continue;
        // With only one other compute in between, the parameters would be gathered again as soon as
        // they are dropped.
        const bool stays = !uses.empty() && n - last <= 2;
        if (!stays) uses.push_back({computes[n == 0 ? 0 : n - 1], 0});
        uses.back().last = computes[n];
        last = n;
    }
    return uses;
}

}  // namespace

Schedule add_unshard_reshard(Schedule schedule, const LowerOptions& options) {
    const int zero = options.data_parallel ? options.zero_stage : 0;
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
        ActionList& list = schedule.ranks[r];
        const auto& held = schedule.placement.stages[r];
        if (zero == 1 || zero == 2) gather_after_step(list, held);
        if (zero != 3 || !options.shard_by_stage) continue;
        Edit edit(list);
        for (const Stage stage : held)
            for (const Use& use : uses_of(list, stage)) {
                edit.before(use.gather, Unshard{stage});
                edit.before(after_sends(list, use.last), Reshard{stage});
            }
        list = std::move(edit).apply();
    }
    return schedule;
}

}  // namespace debubble
