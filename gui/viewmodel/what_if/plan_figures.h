#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>

#include "gui/viewmodel/source.h"
#include "sim/plan/prediction.h"

/// The figures of many plans beside the one on the screen.
namespace debubble::gui {

/// The figures of the plan of a text, without its timeline: what is compared with others. Nothing
/// if the plan is impossible. Pure and thread-safe; throws Cancelled.
std::optional<sim::Prediction> figures_of_plan(const ScenarioText& source,
                                               const std::stop_token& stop);

/// The same of a scenario that may also say why it is impossible: throws InputError.
sim::Prediction figures_of_plan(const scenarios::Scenario& scenario, const std::stop_token& stop);

/// Calls work(0) .. work(count - 1) on all cores but one, which stays the window's. Throws
/// Cancelled, and what the work throws.
void on_other_cores(std::size_t count, const std::stop_token& stop,
                    const std::function<void(std::size_t)>& work);

}  // namespace debubble::gui
