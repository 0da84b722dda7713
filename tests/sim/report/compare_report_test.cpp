#include "sim/report/traces/compare_report.h"

#include <sstream>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "schedule/generators/generators.h"
#include "tests/sim/programs.h"
#include "trace/io/trace_formats.h"

namespace debubble::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Trace written_and_read(const Trace& trace) {
    std::ostringstream out;
    write_chrome_trace(trace, out);
    return read_chrome_trace(out.str(), "t.json");
}

TEST(CompareReport, OfEveryProgramWithItsOwnTraceReadBackHasNoError) {
    const std::vector<NamedProgram> programs = small_programs();
    EXPECT_GE(programs.size(), 150U) << "hardly any program was tried";
    for (const NamedProgram& p : programs) {
        SCOPED_TRACE(p.name);
        SimulateOptions how;
        how.steps = p.name.ends_with("ZeRO-2") ? 2 : 1;  // post-validated
        const Trace simulated = simulate(p.program, DistinctCosts(), how).trace;
        const Trace executed = written_and_read(simulated);
        ASSERT_EQ(executed, simulated);
        const CompareReport report = compare_report(simulated, executed, {"a", "b"});
        EXPECT_THAT(report.order, IsEmpty());
        ASSERT_TRUE(report.replayed) << report.why_not_replayed;
        const Comparison& c = report.comparison;
        const Duration step_time = simulated.header.step_time.value();
        EXPECT_EQ(c.step.simulated.step_time, step_time);
        EXPECT_EQ(c.step.executed.step_time, step_time);
        EXPECT_EQ(report.replayed->step_time, step_time);
        EXPECT_EQ(report.replayed->makespan, c.step.executed.makespan);
        for (const ErrorRow& row : c.kinds) EXPECT_EQ(row.apart, Duration{}) << row.name;
        EXPECT_THAT(c.worst, IsEmpty());
        EXPECT_EQ(c.unmatched, Compared<std::size_t>{});
        if (testing::Test::HasFailure()) return;
    }
}

Program small() {
    LowerOptions options;
    options.data_parallel = true;
    return lower(generate("1f1b", {2, 1, 4, 1}), options);
}

TEST(CompareReport, TellsErrorsOfPricesFromThoseOfOrder) {
    const Trace simulated = simulate(small(), DistinctCosts()).trace;
    Trace late = simulated;  // the host was late before the optimizer
    for (Span& span : late.spans)
        if (std::holds_alternative<OptimizerStep>(span.action)) {
            span.begin += Duration{1000};
            span.end += Duration{1000};
        }
    *late.header.step_time += Duration{1000};
    const CompareReport report = compare_report(simulated, late, {"a", "b"});
    EXPECT_THAT(report.order, IsEmpty());
    EXPECT_EQ(report.replayed->step_time, simulated.header.step_time)
        << "the durations are as predicted: all of the error is of gaps";
}

TEST(CompareReport, SaysByWhichFactorAPredictionIsFarOff) {
    const Trace executed = simulate(small(), DistinctCosts()).trace;
    Trace simulated = executed;
    simulated.header.step_time = executed.header.step_time.value() * 150;
    const std::string text = to_text(compare_report(simulated, executed, {"a", "b"}));
    EXPECT_THAT(text, HasSubstr("x 150"));
}

TEST(CompareReport, SaysThatOthersUsedTheMachine) {
    const Trace simulated = simulate(small(), DistinctCosts()).trace;
    Trace executed = simulated;
    executed.header.source = TraceSource::Executed;
    EXPECT_THAT(to_text(compare_report(simulated, executed, {"a", "b"})),
                Not(HasSubstr("busy machine")));
    for (Span& span : executed.spans)
        if (std::holds_alternative<Compute>(span.action))
            span.on_core = (span.length() - span.exposed) * (span.rank.index == 1 ? 3 : 4) / 4;
    const CompareReport report = compare_report(simulated, executed, {"a", "b"});
    EXPECT_THAT(report.busy.executed, HasSubstr("rank 1's threads had a core for 75 %"));
    std::string words = to_text(report);
    std::ranges::replace(words, '\n', ' ');
    EXPECT_THAT(words, HasSubstr("busy machine, executed: rank 1's threads had a core for 75 %"));
    EXPECT_THAT(to_json(report), HasSubstr("\"busy_machine\": \"rank 1's threads"));
    EXPECT_THAT(to_json(compare_report(simulated, simulated, {"a", "b"})),
                HasSubstr("\"busy_machine\": null"));
}

TEST(CompareReport, SaysWhatWasNotExecutedAndThatItCannotBeReplayed) {
    const Trace simulated = simulate(small(), DistinctCosts()).trace;
    Trace executed = simulated;
    executed.header.source = TraceSource::Executed;
    std::erase_if(executed.spans, [](const Span& s) { return to_text(s.action) == "1B3"; });
    const CompareReport report = compare_report(simulated, executed, {"a", "b"});
    EXPECT_THAT(report.order, testing::ElementsAre("rank 1 never executed 1B3"));
    EXPECT_EQ(report.why_not_replayed,
              "the run's trace holds no 1B3 of rank 1, which its program lists");
    const std::string text = to_text(report);
    EXPECT_THAT(text, HasSubstr("order: what was executed is NOT the program:\n"
                                "  rank 1 never executed 1B3\n"));
    EXPECT_THAT(text, HasSubstr("not replayed: the run's trace holds no 1B3"));
    EXPECT_THAT(text, HasSubstr("1 actions are only in the simulated trace"));
}

TEST(CompareReport, KnowsThatWithoutTheProgramTheOrderIsNotProven) {
    Trace trace = simulate(small(), DistinctCosts()).trace;
    trace.program = {};
    const CompareReport report = compare_report(trace, trace, {"a", "b"});
    EXPECT_FALSE(report.order_checked);
    EXPECT_THAT(to_text(report), HasSubstr("order: not checked, neither trace holds the program"));
    EXPECT_THAT(to_json(report), HasSubstr("\"order_checked\": false"));
}

TEST(CompareReport, RefusesAnInvalidProgram) {
    Trace trace = simulate(small(), DistinctCosts()).trace;
    trace.program.ranks[0].pop_back();
    EXPECT_THROW(compare_report(trace, trace, {"a", "b"}), InputError);
}

TEST(CompareReport, FitsAPage) {
    for (const NamedProgram& p : small_programs()) {
        const Trace trace = simulate(p.program, DistinctCosts()).trace;
        std::istringstream text(to_text(compare_report(trace, trace, {"a", "b"})));
        for (std::string line; std::getline(text, line);) {
            EXPECT_LE(line.size(), 100U) << line;
            EXPECT_FALSE(line.ends_with(' ')) << line;
        }
    }
}

}  // namespace
}  // namespace debubble::sim
