#pragma once

#include <vector>

#include "scenarios/scenario.h"

namespace debubble::scenarios {

/// What the backward may compute again.
struct RecomputeChoice {
    models::Recompute recompute = models::Recompute::None;
    models::RecomputeExtent extent;
    friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};

/// All that `training.recompute: auto` chooses from: nothing; each set of the modules that the
/// network has, in the first 1, 2, ... layers of every stage or in all of them; and whole layers
/// likewise. Sets that the schedule or the precision does not take are left out. Where there would
/// be more than kMostRecomputeChoices, numbers of layers are left out evenly. What computes less
/// again comes first.
std::vector<RecomputeChoice> recompute_choices(const Scenario& scenario);
inline constexpr std::size_t kMostRecomputeChoices = 2000;

/// The scenario with this choice instead of `auto`.
Scenario with(Scenario scenario, const RecomputeChoice& choice);

}  // namespace debubble::scenarios
