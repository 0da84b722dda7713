#pragma once

#include <optional>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "schedule/action.h"
#include "sim/cost/price_part.h"

/// Terms added to a pass's time besides its kernels and collectives, which never overlap anything.
namespace debubble::sim {

struct AddedTerm {
    CostTerm term;
    Duration takes{};
};

/// The terms of one pass of a stage; without a `pass`, those of a Recompute. StagePrice adds them
/// to every price, also of calibrated machines and of pairs, and lists them among its parts.
std::vector<AddedTerm> added_terms(const scenarios::Scenario& scenario,
                                   const models::StageGraph& stage, std::optional<Pass> pass);

/// The pass's share of the host's time between two microbatches.
Duration host_between(const scenarios::Scenario& scenario, Pass pass);

Duration sum_of(const std::vector<AddedTerm>& terms);

}  // namespace debubble::sim
