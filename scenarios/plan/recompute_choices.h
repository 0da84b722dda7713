#pragma once

#include <vector>

#include "scenarios/plan/scenario.h"

namespace debubble::scenarios {

/// The choices of recomputation and offloading.
struct RecomputeChoice {
    models::Recompute recompute = models::Recompute::None;
    models::RecomputeExtent extent;
    models::OffloadExtent offload = {};  ///< used where it is chosen, too
    friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};

/// All that `training.recompute: auto` chooses from: nothing; each set of the modules that the
/// network has, in the first 1, 2, ... layers of every stage or in all of them; and whole layers
/// likewise. With `offload: auto` also each set of modules whose inputs are offloaded, with no
/// recomputation, or with a set of modules or whole layers recomputed in all layers; where these
/// would be more than kMostRecomputeChoices, sets of up to two modules, or of one. Sets that the
/// schedule or the precision does not take are left out. Where there would be more than
/// kMostRecomputeChoices, numbers of layers are left out evenly. What computes less again comes
/// first.
std::vector<RecomputeChoice> recompute_choices(const Scenario& scenario);
inline constexpr std::size_t kMostRecomputeChoices = 2000;

/// The scenario with this choice instead of `auto`.
Scenario with(Scenario scenario, const RecomputeChoice& choice);

}  // namespace debubble::scenarios
