#pragma once

#include <stop_token>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "schedule/placement.h"
#include "sim/memory/memory_model.h"
#include "sim/plan/priced_plan.h"

namespace debubble::sim {

/// The most live microbatches with which each rank fits into its device, for a schedule that is
/// searched under such a limit. What a rank's allocator reserves is known once there is an order.
/// So the limits begin with the microbatches whose tensors have room, and are lowered on the ranks
/// that do not fit, each time by what the order of before lacks, until all fit.
class LimitsToFit {
public:
    /// Limits are whole, unless some microbatches are counted in parts.
    LimitsToFit(const MemoryModel& model, const Placement& placement,
                const scenarios::Scenario& scenario, bool in_parts);

    /// At least one, since a plan that does not fit is played too.
    const std::vector<double>& by_rank() const { return limits_; }

    /// Lowers the limits of the ranks that do not fit in this plan, which was made with them. False
    /// if there is nothing to lower: all fit, or a rank does not fit with one microbatch.
    bool lower(const PricedPlan& priced, const scenarios::Scenario& scenario,
               const std::stop_token& stop);

private:
    std::vector<double> limits_;
    std::vector<Bytes> held_;  ///< of a microbatch, by rank
    bool in_parts_;
};

}  // namespace debubble::sim
