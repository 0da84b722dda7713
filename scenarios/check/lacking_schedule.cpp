#include "scenarios/check/framework_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "schedule/generators/generators.h"

namespace debubble::scenarios {
namespace {

constexpr std::string_view kHasNo = " has no ";

}  // namespace

std::string lacking_schedule(const Scenario& scenario) {
    const auto& schedules = scenario.framework.schedules;
    const ScheduleChoice& choice = scenario.schedule;
    if (!schedules || choice.csv) return {};
    if (std::ranges::find(*schedules, choice.name) != schedules->end()) return {};
    return fmt::format("{}{}{}", scenario.framework.name, kHasNo, choice.name);
}

bool says_schedule_is_lacking(std::string_view reason) {
    const std::size_t at = reason.rfind(kHasNo);
    return at != std::string_view::npos &&
           find_generator(reason.substr(at + kHasNo.size())) != nullptr;
}

}  // namespace debubble::scenarios
