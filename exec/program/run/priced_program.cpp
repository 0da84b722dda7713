#include "exec/program/run/priced_program.h"

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/program/run/simulate_beside.h"
#include "schedule/generators/generators.h"
#include "trace/io/chrome_trace.h"

namespace debubble::exec {

namespace {

Program predicted_program(const RunRequest& request) {
    const auto trace = simulate_beside(request.scenario, request.set, "--trace", Mistakes::Said);
    if (!trace)
        throw WorldError(
            fmt::format("this schedule is made from predicted costs, and {} simulate "
                        "did not give them",
                        program_beside()));
    return read_chrome_trace(*trace, "the trace of debubble simulate").program;
}

}  // namespace

scenarios::Plan plan_for_run(const RunRequest& request, const scenarios::Scenario& scenario) {
    scenarios::Plan plan = scenarios::make_plan(scenario);
    const Generator* generator = find_generator(scenario.schedule.name);
    const bool needs_costs =
        scenario.schedule.csv.empty() && generator != nullptr && generator->uses_costs;
    if (needs_costs) plan.program = predicted_program(request);
    return plan;
}

}  // namespace debubble::exec
