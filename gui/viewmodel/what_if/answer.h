#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "gui/viewmodel/timeline/document.h"
#include "gui/viewmodel/what_if/field.h"
#include "sim/predict.h"
#include "trace/picture/shapes/svg.h"

/// The answer to the text of the open scenario.
namespace debubble::gui {

/// A consistent plan and its prediction. Plans are shared and never changed.
struct PredictedPlan {
    scenarios::Scenario scenario;
    sim::Prediction prediction;
    Document document;
    SvgOptions picture;
    std::string file = {};  ///< the scenario's file
    /// The scenario with the choices of `auto` and `balanced`, to which the document's prices
    /// belong.
    scenarios::Scenario played = {};
    std::string text = {};  ///< the scenario's
};

/// The facts of a document about a plan, besides its trace.
picture::DocumentFacts facts_of(const sim::Prediction& prediction, Bytes limit,
                                const SvgOptions& picture);

struct Answer {
    ScenarioText source;
    std::shared_ptr<const PredictedPlan> plan;  ///< nothing if the plan is impossible
    std::vector<Field> fields;                  ///< empty if the text is not a scenario
    /// The values of fields, by key, in a text that is not a scenario.
    std::map<std::string, std::string> written;
    std::vector<Diagnostic> mistakes;  ///< why there is no plan
};

/// Reads, predicts and prepares for drawing. It is pure and thread-safe; mistakes of the user and
/// failures of the world are part of the answer. Throws Cancelled soon after a stop is requested.
Answer answer(const ScenarioText& source, const std::stop_token& stop = {});

}  // namespace debubble::gui
