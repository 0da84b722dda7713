#include "gui/viewmodel/what_if/plan_figures.h"

#include <algorithm>
#include <thread>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

namespace debubble::gui {

sim::Prediction figures_of_plan(const scenarios::Scenario& scenario, const std::stop_token& stop) {
    sim::PredictOptions options;
    options.keep_trace = false;
    options.hash_program = false;
    options.explain = false;
    options.draw_loads = scenario.imbalance.any();
    options.only_where_it_decides = true;
    options.stop = stop;
    return sim::predict(scenario, options).prediction;
}

std::optional<sim::Prediction> figures_of_plan(const ScenarioText& source,
                                               const std::stop_token& stop) {
    try {
        return figures_of_plan(scenarios::parse_scenario(source.text, source.file), stop);
    } catch (const InputError&) {
        return std::nullopt;
    } catch (const scenarios::InvalidSchedule&) {
        return std::nullopt;
    }
}

void for_each_in_parallel(std::size_t count, const std::stop_token& stop,
                          const std::function<void(std::size_t)>& work) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
    run_parallel(count, cores, nullptr, [&](std::size_t i) {
        give_up_if(stop);
        work(i);
    });
}

}  // namespace debubble::gui
