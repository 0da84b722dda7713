#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "scenarios/plan/scenario.h"
#include "sim/engine/cost_model.h"
#include "sim/plan/prediction.h"
#include "trace/statistics.h"

/// The bill of a step: what its time is paid for, from the step of perfect kernels to the real one.
/// docs/definitions.md defines the parts.
namespace debubble::sim {

struct BillPart {
    std::string key;    ///< as JSON has it: "exposed_tp"
    std::string words;  ///< "exposed tensor parallel communication"
    Duration takes{};   ///< its part of the step
    /// The step if this were free: the plan played again with that cost at zero. Nothing for the
    /// ideal, and where no such step can be played.
    std::optional<Duration> if_free = {};
    std::string freed = {};  ///< what was played: "all collectives of tensor groups take no time"
    std::optional<BubbleCause> idle = {};  ///< the cause of the idle time in it, if there is any
};

struct Bill {
    Duration step{};
    std::vector<BillPart> parts;  ///< from the ideal on; they add up to the step
};

/// A step that was played: its length and where its time went.
struct PlayedStep {
    Duration step{};
    Statistics statistics;
};

/// What a bill is made of. `play` plays the same program with other costs.
struct BillRequest {
    const Prediction& prediction;  ///< with its communication by kind
    const Statistics& statistics;  ///< of the step
    const Program& program;
    const CostModel& costs;
    std::function<PlayedStep(const CostModel&)> play;
    /// The costs of the same plan without recompute, and with even loads; null where there is
    /// nothing to be without.
    const CostModel* without_recompute = nullptr;
    const CostModel* of_even_loads = nullptr;
};

Bill bill_of(const BillRequest& request);

}  // namespace debubble::sim
