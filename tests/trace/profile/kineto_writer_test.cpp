#include "trace/profile/formats/profile_files.h"

#include <sstream>

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/trace/profile/same_statistics.h"
#include "tests/trace/trace_of.h"
#include "trace/profile/runs/profiled_run.h"

namespace debubble::profile {
namespace {

Trace through_kineto(const Trace& trace) {
    std::vector<RankProfile> ranks;
    for (const WrittenRank& rank : written_ranks(trace)) {
        std::ostringstream out;
        write_kineto(trace, rank, out);
        ranks.push_back(read_kineto_text(out.str(), fmt::format("rank-{}.json", rank.global_rank)));
    }
    return put_together(std::move(ranks)).trace;
}

class EverySchedule : public testing::TestWithParam<std::string> {};

TEST_P(EverySchedule, ComesBackFromKinetoToTheNanosecond) {
    const Generator& generator = *find_generator(GetParam());
    PipelineShape shape{4, generator.stages_per_rank.value_or(1), 8, 1};
    if (generator.why_not(shape, {})) shape.stages_per_rank = 2;
    if (generator.why_not(shape, {})) GTEST_SKIP() << *generator.why_not(shape, {});
    const auto us = [](int count) { return std::chrono::microseconds(count); };
    const PipelineCosts costs{{{us(1001), us(997), us(613)}}, us(31), std::nullopt};
    Trace trace = trace_of(generator.make(shape, {}), costs);
    std::int64_t number = 0;
    for (Span& span : trace.spans)  // communication inside of some of the passes
        if (span.lane == Lane::Compute && ++number % 3 == 0)
            span.exposed = Duration{std::min<std::int64_t>(7 * number, span.length().count())};
    const Trace read = through_kineto(trace);
    expect_same_statistics(trace, read);
    ASSERT_EQ(read.spans.size(), trace.spans.size());
}

std::vector<std::string> names_of_generators() {
    std::vector<std::string> out;
    for (const Generator& generator : generators()) out.emplace_back(generator.name);
    return out;
}

INSTANTIATE_TEST_SUITE_P(Generators, EverySchedule, testing::ValuesIn(names_of_generators()));

TEST(KinetoWriter, KeepsReplicasAndStepsApart) {
    const PipelineShape shape{2, 1, 3, 1};
    const Trace one = trace_of(generate("1f1b", shape), unit_costs());
    Trace trace = one;
    trace.header.folded = false;
    trace.spans.clear();
    for (int step = 0; step < 3; ++step)
        for (int replica = 0; replica < 2; ++replica)
            for (Span span : one.spans) {
                span.replica = replica;
                const Duration late =
                    std::chrono::seconds(100 * step) + std::chrono::nanoseconds(replica * 7);
                span.begin += late;
                span.end += late;
                trace.spans.push_back(span);
            }
    std::ranges::stable_sort(trace.spans, {},
                             [](const Span& s) { return std::tuple(s.begin, s.rank, s.lane); });
    const Trace read = through_kineto(trace);
    expect_same_statistics(trace, read);
    EXPECT_EQ(read.spans.size(), trace.spans.size());
    EXPECT_FALSE(read.header.folded);
}

}  // namespace
}  // namespace debubble::profile
