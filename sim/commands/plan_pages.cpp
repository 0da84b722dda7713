#include "sim/commands/plan_pages.h"

#include <fmt/format.h>

#include "base/command_line/progress_line.h"
#include "sim/report/plan_page.h"

namespace debubble::sim {
namespace {

/// Every schedule that the plan could use.
std::vector<ZooRow> zoo_of(const AskedScenario& asked, const scenarios::Scenario& scenario) {
    ZooRequest request;
    request.present = scenario.schedule.name;
    request.stages = {scenario.parallel.stages_per_rank};
    std::vector<scenarios::Override> overrides;
    for (const std::string& text : asked.set) overrides.push_back(scenarios::parse_override(text));
    request.plan_with = [&](const std::string& schedule, int stages) {
        std::vector<scenarios::Override> changed = overrides;
        std::erase_if(changed, [](const scenarios::Override& one) {
            return one.first == "schedule" || one.first.starts_with("schedule.") ||
                   one.first == "parallel.stages_per_rank";
        });
        changed.emplace_back("schedule", schedule);
        changed.emplace_back("parallel.stages_per_rank", std::to_string(stages));
        return read_scenario_of(asked, changed);
    };
    return schedule_zoo(request);
}

PlanOnPage played_again(const AskedScenario& asked, const scenarios::Scenario& scenario,
                        const PredictionWithTrace& answer, bool quiet) {
    PlanOnPage plan{&scenario, &answer};
    if (const std::size_t actions = answer.trace.spans.size(); actions > kMostPlayedAgain) {
        plan.left_out = too_many_actions(actions);
        return plan;
    }
    ProgressLine line(quiet);
    line.show(fmt::format("{}: the bill and the other schedules", scenario.name));
    plan.bill = bill_rows(answer.bill ? *answer.bill : bill_of_plan(answer.played));
    plan.zoo = zoo_of(asked, scenario);
    return plan;
}

}  // namespace

scenarios::Scenario read_scenario_of(const AskedScenario& asked,
                                     const std::vector<scenarios::Override>& overrides) {
    return asked.name == "-" ? scenarios::parse_scenario(asked.piped, "standard-input", overrides)
                             : scenarios::read_scenario(asked.name, overrides);
}

std::string plan_pages(const AskedScenario& asked, std::span<const scenarios::Scenario> scenarios,
                       std::span<const PredictionWithTrace> answers, bool quiet) {
    std::vector<PlanOnPage> plans;
    if (answers.size() == 1)
        plans.push_back(played_again(asked, scenarios[0], answers[0], quiet));
    else
        for (std::size_t i = 0; i < answers.size(); ++i)
            plans.push_back({&scenarios[i], &answers[i]});
    return page::page_html(page_of(plans));
}

}  // namespace debubble::sim
