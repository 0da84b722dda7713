#include "sim/allocators_later.h"

#include <algorithm>

#include "scenarios/plan/derived.h"
#include "scenarios/plan/packing.h"
#include "sim/explain/explain.h"
#include "sim/memory/memory_play.h"

namespace debubble::sim {
namespace {

/// True if the memory that allocators reserve says more about fitting than the memory that is
/// requested.
bool reserve_decides(const Prediction& out, const scenarios::Scenario& scenario) {
    const Bytes room = scenarios::room_of(scenario);
    Bytes asked;
    for (const RankPrediction& rank : out.ranks) asked = std::max(asked, rank.peak_memory);
    return may_fit(asked, scenario) && most_reserved(asked, scenario.parallel.zero_stage) > room;
}

}  // namespace

void play_allocators(Prediction& out, const StepToAllocate& step, bool only_where_it_decides,
                     const std::stop_token& stop) {
    if (only_where_it_decides && !reserve_decides(out, step.scenario)) return;
    const std::vector<Bytes> reserved =
        step.loaded
            ? step.loaded->drawn.reserved()
            : play_reserved(scenarios::with_full_ranks(step.scenario), step.priced->plan.stages,
                            step.loads->program(), step.times, stop);
    for (RankPrediction& rank : out.ranks) rank.reserved = reserved[rank.rank.index];
    add_ranges(out, step.scenario);
}

}  // namespace debubble::sim
