#pragma once

#include <functional>
#include <utility>

#include "scenarios/plan/scenario.h"
#include "sim/plan/prediction.h"

namespace debubble::sim {

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
