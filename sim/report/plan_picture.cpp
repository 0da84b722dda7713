#include <fmt/format.h>

#include "sim/report/report.h"

namespace debubble::sim {

SvgOptions picture_of(const scenarios::Scenario& scenario, const PredictionWithTrace& answer) {
    std::string below = fmt::format("{} on {} x {}; {}", scenario.model.name, scenario.gpus,
                                    scenario.cluster.gpu.name, plan_of(scenario));
    if (answer.prediction.replicas > 1)
        below += fmt::format("; one of {} identical pipelines", answer.prediction.replicas);
    SvgOptions options;
    options.title = headline(answer.prediction);
    options.subtitle = std::move(below);
    options.memory_limit = answer.memory_limit;
    options.operators = answer.operators;
    options.links = answer.links;
    return options;
}

}  // namespace debubble::sim
