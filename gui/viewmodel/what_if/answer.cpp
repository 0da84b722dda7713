#include "gui/viewmodel/what_if/answer.h"

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "scenarios/plan/plan.h"
#include "sim/report/report.h"

namespace debubble::gui {
namespace {

Diagnostic without_place(const std::string& message) {
    return {{}, message, {}};
}

}  // namespace

picture::DocumentFacts facts_of(const sim::Prediction& prediction, Bytes limit,
                                const SvgOptions& picture) {
    picture::DocumentFacts facts{
        {picture.title, picture.subtitle}, picture.operators, picture.links};
    for (const sim::RankPrediction& rank : prediction.ranks)
        facts.memory_left.push_back(limit - prediction.headroom - rank.needs());
    return facts;
}

namespace {

std::shared_ptr<const PredictedPlan> plan_of(scenarios::Scenario scenario,
                                             const ScenarioText& source,
                                             const std::stop_token& stop) {
    sim::PredictOptions options;
    options.stop = stop;
    sim::PredictionWithTrace predicted = sim::predict(scenario, options);
    give_up_if(stop);
    SvgOptions picture = sim::picture_of(scenario, predicted);
    Document document = make_document(
        std::move(predicted.trace), std::move(predicted.statistics), predicted.memory_limit, stop,
        facts_of(predicted.prediction, predicted.memory_limit, picture));
    return std::make_shared<const PredictedPlan>(
        PredictedPlan{std::move(scenario), std::move(predicted.prediction), std::move(document),
                      std::move(picture), source.file, std::move(predicted.played), source.text});
}

}  // namespace

Answer answer(const ScenarioText& source, const std::stop_token& stop) {
    Answer answer{source, nullptr, {}, {}, {}};
    try {
        scenarios::Scenario scenario = scenarios::parse_scenario(source.text, source.file);
        answer.fields = fields_of(source, scenario);
        give_up_if(stop);
        answer.plan = plan_of(std::move(scenario), source, stop);
    } catch (const InputError& error) {
        answer.mistakes = error.diagnostics();
        // Such as an invalid schedule file, or a disk that fails.
    } catch (const std::exception& error) {
        answer.mistakes = {without_place(error.what())};
    }
    if (answer.fields.empty()) answer.written = written_fields(source);
    return answer;
}

}  // namespace debubble::gui
