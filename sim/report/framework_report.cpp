#include "sim/report/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenarios/check/framework_checks.h"

namespace debubble::sim {

nlohmann::ordered_json framework_checks_json(const scenarios::Scenario& scenario) {
    nlohmann::ordered_json checks = nlohmann::ordered_json::array();
    for (const scenarios::FrameworkRefusal& one : scenarios::framework_refusals(scenario))
        checks.push_back(
            {{"framework", one.framework}, {"sentence", one.sentence}, {"place", one.place}});
    return checks;
}

std::string framework_checks_text(const scenarios::Scenario& scenario) {
    const auto broken = scenarios::framework_refusals(scenario);
    if (broken.empty())
        return fmt::format("\nFramework checks: {} has no known rule that the plan breaks.\n",
                           scenario.framework.name);
    std::string text = "\nFramework checks\n";
    for (const scenarios::FrameworkRefusal& one : broken)
        text += fmt::format("  {}\n", refusal_text(one));
    return text;
}

}  // namespace debubble::sim
