#include "sim/report/traces/compare_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "schedule/validate.h"
#include "sim/engine/replay_measured.h"
#include "trace/core_share.h"
#include "trace/executed_order.h"
#include "trace/steps.h"

namespace debubble::sim {
namespace {

void check_program(const Program& program, const std::string& file) {
    const auto violations = validate(program, Transport::Buffered);
    if (!violations.empty())
        throw InputError(fmt::format("{}: the program in it is invalid: rank {}: {}", file,
                                     violations.front().rank.index, violations.front().message));
}

/// The replay needs every action; the order check has reported any that are missing.
void replay(const Trace& executed, CompareReport& report) {
    try {
        const Trace replayed = replay_measured(report.program, executed);
        report.replayed = compare(replayed, executed).step.simulated;
    } catch (const InputError& error) {
        report.why_not_replayed = error.diagnostics().front().message;
    }
}

}  // namespace

Compared<std::string> names_of(const CompareReport& report) {
    const std::optional<TraceSource> source = report.headers.simulated.source;
    if (source && source == report.headers.executed.source) return {"first", "second"};
    return {"simulated", "executed"};
}

std::optional<std::string> swapped_reason(const Trace& simulated, const Trace& executed) {
    if (simulated.header.source != TraceSource::Executed ||
        executed.header.source != TraceSource::Simulated)
        return std::nullopt;
    return "the executed trace is given first and the simulated one second, so the errors would "
           "have the wrong sign; swap them";
}

CompareReport compare_report(const Trace& simulated, const Trace& executed,
                             const Compared<std::string>& files) {
    CompareReport report;
    report.files = files;
    report.headers = {simulated.header, executed.header};
    report.busy = {busy_machine(simulated), busy_machine(executed)};
    const bool run_knows = !executed.program.ranks.empty();
    report.program = run_knows ? executed.program : simulated.program;
    report.steps = std::max(1, steps_in(executed));
    report.comparison = compare(simulated, executed);
    if (report.program.ranks.empty()) {
        report.why_not_replayed = "neither trace holds the program";
        return report;
    }
    check_program(report.program, run_knows ? files.executed : files.simulated);
    report.order_checked = true;
    report.order = executed_in_order(report.program, executed);
    replay(executed, report);
    return report;
}

}  // namespace debubble::sim
