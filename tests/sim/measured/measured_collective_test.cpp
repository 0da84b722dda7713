#include "sim/measured/compare_measured.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

using testing::HasSubstr;

std::string row(const std::string& scenario, const std::string& measured) {
    return fmt::format(R"({{"row": "r", "scenario": {}, "measured": {}}})"
                       "\n",
                       scenario, measured);
}

std::string all_reduce(int gpus, const std::string& measured) {
    return row(
        fmt::format(R"({{"cluster": "dgx-a100-80gb", "gpus": {}, "collective": "all-reduce", )"
                    R"("bytes": 1000000000}})",
                    gpus),
        measured);
}

std::vector<MeasuredStep> read(const std::string& table) {
    std::vector<MeasuredStep> steps;
    read_measured(table, "table.jsonl", steps);
    return steps;
}

/// nccl-tests, doc/PERFORMANCE.md: busbw = 2 (n - 1) / n x bytes / time.
TEST(MeasuredCollective, TakesTheTimeFromTheBandwidthOfTheBus) {
    const auto row = compare_collective(read(all_reduce(8, R"({"busbw_gb_per_s": 175})")).front());
    ASSERT_TRUE(row.time);
    EXPECT_NEAR(row.time->measured, 1.75 * 1e9 / 175e9, 1e-12);
    EXPECT_DOUBLE_EQ(row.work, 1.75e9);
}

/// A large message on a node's NVSwitch: near NCCL's published 230 GB/s of an A100 node, and no
/// faster than its links.
TEST(MeasuredCollective, IsPredictedByTheClustersLinks) {
    const auto row = compare_collective(read(all_reduce(8, R"({"time_s": 0.0075})")).front());
    const double busbw = row.work / row.time->predicted / 1e9;
    EXPECT_GT(busbw, 200);
    EXPECT_LT(busbw, 300);
}

TEST(MeasuredCollective, IsNoStep) {
    for (const auto& [table, mistake] :
         {std::pair(all_reduce(8, R"({"step_s": 1})"), "a collective is measured by time_s"),
          std::pair(row(R"({"model": "gpt2-xl"})", R"({"time_s": 1})"), "the scenario is a step"),
          std::pair(all_reduce(8, "{}"), "the row has no measured figure")})
        EXPECT_THROW(
            {
                try {
                    read(table);
                } catch (const InputError& error) {
                    EXPECT_THAT(error.what(), HasSubstr(mistake));
                    throw;
                }
            },
            InputError);
}

TEST(MeasuredCollective, SaysWhatItDoesNotKnow) {
    const auto unsaid = [](const std::string& scenario) {
        return compare_collective(read(row(scenario, R"({"time_s": 1})")).front())
            .unsaid.value_or("");
    };
    EXPECT_THAT(
        unsaid(R"({"cluster": "dgx-a100-80gb", "gpus": 8, "collective": "sum", "bytes": 8})"),
        HasSubstr("unknown collective 'sum'"));
    EXPECT_THAT(unsaid(R"({"cluster": "none", "gpus": 8, "collective": "all-reduce", "bytes": 8})"),
                HasSubstr("unknown cluster 'none'"));
    EXPECT_THAT(unsaid(R"({"cluster": "dgx-a100-80gb", "gpus": 1, "collective": "all-reduce",)"
                       R"( "bytes": 8})"),
                HasSubstr("gpus"));
    EXPECT_THAT(unsaid(R"({"cluster": "dgx-a100-80gb", "gpus": 8, "collective": "all-reduce"})"),
                HasSubstr("bytes"));
}

/// One constant cannot be both a rate of FLOP and a bandwidth.
TEST(MeasuredCollective, HasANullModelOfItsOwn) {
    auto rows = std::vector{compare_collective(read(all_reduce(8, R"({"time_s": 0.01})")).front()),
                            compare_collective(read(all_reduce(4, R"({"time_s": 0.02})")).front())};
    MeasuredComparison step = rows.front();
    step.step = read(row(R"({"model": "gpt2-xl"})", R"({"step_s": 1})")).front();
    step.work = 1e15;
    step.time = Compared{1, 2};
    rows.push_back(step);
    fit_null_models(rows);
    EXPECT_DOUBLE_EQ(rows[2].null_s, 1);
    EXPECT_FALSE(rows[2].null_of_others_s) << "no other step ran there";
    EXPECT_DOUBLE_EQ(rows[0].null_of_others_s.value(), 1.75 / (1.5 / 0.02));
}

}  // namespace
}  // namespace debubble::sim
