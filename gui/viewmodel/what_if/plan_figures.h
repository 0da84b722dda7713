#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>

#include "gui/viewmodel/source.h"
#include "sim/plan/prediction.h"

/// The figures of many plans, for comparison with the plan on the screen.
namespace debubble::gui {

/// The figures of a text's plan without its timeline. Nothing if the plan is impossible. Pure and
/// thread-safe; throws Cancelled.
std::optional<sim::Prediction> figures_of_plan(const ScenarioText& source,
                                               const std::stop_token& stop);

/// The same for a scenario. Throws InputError with the reason if its plan is impossible.
sim::Prediction figures_of_plan(const scenarios::Scenario& scenario, const std::stop_token& stop);

/// Calls work(0) .. work(count - 1) on all cores but one, which is left to the window. Throws
/// Cancelled, and the exceptions of `work`.
void for_each_in_parallel(std::size_t count, const std::stop_token& stop,
                          const std::function<void(std::size_t)>& work);

}  // namespace debubble::gui
