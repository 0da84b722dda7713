#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include "base/units.h"
#include "scenarios/plan/scenario.h"
#include "sim/plan/prediction.h"

namespace debubble::sim {

/// What predict() says of a plan, as far as a choice depends on it.
struct PlayedPlan {
    bool fits = false;
    double step_time_s = 0;
    Bytes memory_left;  ///< below zero if it does not fit
};

/// The choice with the shortest step of those that fit; of equals, the one that computes less
/// again. Exact: a choice is not played only if what its ranks have to work takes longer than the
/// step that was found. If none fits, the one that needs the least memory. `play` is called from
/// several threads; what it throws is thrown here, and so is Cancelled once `stop` asks for it.
/// `choosing` may be empty.
std::pair<scenarios::Scenario, ChosenRecompute> choose_recompute(
    const scenarios::Scenario& scenario,
    const std::function<PlayedPlan(const scenarios::Scenario&)>& play, const ChoicesDone& choosing,
    const std::stop_token& stop);

/// A scenario with the cut that was chosen, and what it was played as.
struct PlayedCut {
    scenarios::Scenario scenario;
    Prediction prediction;
    ChosenCut cut;
};

/// The cut with the shorter step that fits, or just with the shorter one if none fits; of equal
/// ones, the uniform one. Exact: a cut is not played only if its ranks have to work for longer than
/// the step that was found (sim/plan/plan_bound.h).
PlayedCut choose_cut(const scenarios::Scenario& scenario,
                     const std::function<Prediction(const scenarios::Scenario&)>& play);

}  // namespace debubble::sim
