#pragma once

#include <memory>

#include "scenarios/plan/scenario.h"
#include "sim/cost/stage_price.h"

namespace debubble::sim {

/// The prices of one scenario's stages. A price depends on the machine, the layout and the stage,
/// and neither on the schedule's order nor on the number of microbatches, so the plans of a sweep
/// need the same prices again and again: the latest are cached for the whole process, by value.
/// Thread-safe.
class PricedStages {
public:
    /// Keeps references to its arguments.
    PricedStages(const scenarios::Scenario& scenario, const PassPricer& pricer);

    std::shared_ptr<const StagePrice> get(const models::StageContent& content, int slice,
                                          const ScheduledPasses& passes) const;

private:
    struct Scene;
    struct Key;
    std::shared_ptr<const Scene> scene_;
    const scenarios::Scenario& scenario_;
    const PassPricer& pricer_;
};

}  // namespace debubble::sim
