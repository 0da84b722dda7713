#include "sim/plan/limits_to_fit.h"

#include <algorithm>
#include <cmath>

#include "scenarios/plan/derived.h"
#include "scenarios/plan/packing.h"
#include "sim/engine/simulate.h"
#include "sim/memory/memory_play.h"
#include "sim/plan/drawn_loads.h"
#include "sim/plan/prediction.h"

namespace debubble::sim {

using scenarios::Scenario;

namespace {

/// Of a microbatch: less is not worth another search.
constexpr double kLeastPart = 0.25;

/// The memory that a device must have for each rank: what its tensors need, and, where that may
/// decide, what its allocator reserves.
std::vector<Bytes> needs_of_ranks(const PricedPlan& priced, const Scenario& scenario,
                                  const std::stop_token& stop) {
    SimulateOptions how = played_step(scenario, priced.plan);
    how.sample_memory = how.record_spans = how.keep_program = how.hash_program = false;
    how.stop = stop;
    const LoadsOfStep loads(scenario, priced);
    const auto loaded = draw_memory(scenario, priced, loads.mean(), how);
    Simulation played;
    if (!loaded) played = simulate(loads.program(), loads.costs(), *priced.memory, how);
    std::vector<Bytes> needs;
    for (const MemoryPeak& peak : loaded ? loaded->drawn.peaks() : played.peaks)
        needs.push_back(total(peak.held));
    const Bytes most = std::ranges::max(needs);
    const Bytes room = scenarios::room_of(scenario);
    if (most > room || most_reserved(most, scenario.parallel.zero_stage) <= room) return needs;
    const std::vector<Bytes> reserved =
        loaded ? loaded->drawn.reserved()
               : play_reserved(scenarios::with_full_ranks(scenario), priced.plan.stages,
                               loads.program(), played.times, stop);
    for (std::size_t r = 0; r < needs.size(); ++r) needs[r] = std::max(needs[r], reserved[r]);
    return needs;
}

/// The most microbatches that are live on a rank, each from its first stage's forward to its last
/// backward.
int most_live(const ActionList& list, std::span<const Stage> stages) {
    int live = 0;
    int most = 0;
    for (const Action& action : list) {
        const auto* compute = std::get_if<Compute>(&action);
        if (compute == nullptr || compute->stage != stages.front()) continue;
        if (compute->pass == Pass::Forward) most = std::max(most, ++live);
        if (compute->pass == Pass::Backward || compute->pass == Pass::BackwardWeight) --live;
    }
    return most;
}

}  // namespace

LimitsToFit::LimitsToFit(const MemoryModel& model, const Placement& placement,
                         const Scenario& scenario, bool in_parts)
    : in_parts_(in_parts) {
    for (int r = 0; r < placement.ranks(); ++r) {
        const Rank rank{r};
        Bytes held;
        Bytes above;
        for (const Stage stage : placement.stages_of(rank)) {
            const PassMemory forward = model.compute({Pass::Forward, stage, {}});
            const PassMemory input = model.compute({Pass::BackwardInput, stage, {}});
            held += forward.held_after + std::max(Bytes{}, input.held_after);
            above = std::max({above, forward.peak_above - forward.held_after, input.peak_above});
        }
        const Bytes left = scenarios::room_of(scenario) - total(model.static_memory(rank)) -
                           model.gradients_in_backward(rank) - above;
        const double fit = static_cast<double>(left.count) / static_cast<double>(held.count);
        // More than 2p gain nothing.
        limits_.push_back(std::min(std::max(1.0, in_parts ? fit : std::floor(fit)),
                                   2.0 * scenario.parallel.pipeline));
        held_.push_back(held);
    }
}

bool LimitsToFit::lower(const PricedPlan& priced, const Scenario& scenario,
                        const std::stop_token& stop) {
    const std::vector<Bytes> needs = needs_of_ranks(priced, scenario, stop);
    const Bytes room = scenarios::room_of(scenario);
    std::vector<double> lower = limits_;
    for (std::size_t r = 0; r < needs.size(); ++r) {
        if (needs[r] <= room) continue;
        const Rank rank{static_cast<int>(r)};
        const Schedule& schedule = priced.plan.schedule;
        const double used = std::min<double>(
            limits_[r], most_live(schedule.ranks[r], schedule.placement.stages_of(rank)));
        if (used <= 1) return false;
        const double lacking = static_cast<double>((needs[r] - room).count) /
                               std::max(1.0, static_cast<double>(held_[r].count));
        lower[r] =
            std::max(1.0, used - (in_parts_ ? std::max(lacking, kLeastPart) : std::ceil(lacking)));
    }
    if (lower == limits_) return false;
    limits_ = std::move(lower);
    return true;
}

}  // namespace debubble::sim
