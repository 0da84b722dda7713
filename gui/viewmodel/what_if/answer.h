#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "gui/viewmodel/timeline/document.h"
#include "gui/viewmodel/what_if/field.h"
#include "sim/predict.h"
#include "trace/picture/svg.h"

/// What became of a question that the window asked.
namespace debubble::gui {

/// A plan that makes sense, and what it would do. Shared, never changed.
struct Plan {
    scenarios::Scenario scenario;
    sim::Prediction prediction;
    Document document;
    SvgOptions picture;
};

struct Answer {
    ScenarioText source;
    std::shared_ptr<const Plan> plan;  ///< nothing if the plan is impossible
    std::vector<Field> fields;         ///< empty if the text is no scenario
    std::vector<Diagnostic> mistakes;  ///< why there is no plan
};

/// Reads, predicts and prepares for drawing. Pure and thread-safe; mistakes of the person and of
/// the world are part of the answer. Throws Cancelled soon after it is no longer wanted.
Answer answer(const ScenarioText& source, const std::stop_token& stop = {});

}  // namespace debubble::gui
