#include "exec/program/calibrate/calibrate.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/core/stage/operators/executor_scenario.h"
#include "exec/program/calibrate/noise.h"
#include "exec/program/calibrate/statistics.h"
#include "exec/program/calibrate/timed_step.h"
#include "models/graph/operator_runs.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/cluster/reader.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "tests/exec/support/scratch_folder.h"

namespace debubble::exec {
namespace {

using models::Part;
using testing::DoubleNear;
using testing::ElementsAre;

TEST(Statistics, MedianAndDeviation) {
    EXPECT_EQ(median({3}), 3);
    EXPECT_EQ(median({9, 1, 4}), 4);
    EXPECT_EQ(median({9, 1, 4, 6}), 5);
    EXPECT_EQ(deviation({1, 1, 2, 2, 4, 6, 9}), 1);  // Wikipedia's example
    EXPECT_EQ(deviation({5, 5, 5, 1000}), 0);
}

TEST(Statistics, ALineIsFoundAgain) {
    std::vector<Point> points;
    for (const double x : {1e3, 1e5, 1e7}) points.push_back({x, 2e-6 + x * 1e-10});
    const Line line = fit_line(points);
    EXPECT_THAT(line.alpha, DoubleNear(2e-6, 1e-12));
    EXPECT_THAT(line.beta, DoubleNear(1e-10, 1e-16));
}

TEST(Statistics, ALineIsNeverNegative) {
    EXPECT_EQ(fit_line(std::vector<Point>{{1, 1}, {2, 4}}).alpha, 0);
    const Line flat = fit_line(std::vector<Point>{{1, 4}, {2, 2}});
    EXPECT_EQ(flat.beta, 0);
    EXPECT_GT(flat.alpha, 2);
    EXPECT_LT(flat.alpha, 4);
}

scenarios::Measured measured_with(
    std::initializer_list<std::tuple<const char*, int, int>> operators) {
    scenarios::Measured measured;
    for (const auto& [name, median, deviation] : operators)
        measured.operators[{name, Part::Forward}] = {Duration{median}, Duration{deviation}, 20};
    return measured;
}

TEST(Noise, IsNoWarningWhereTimingsAgree) {
    EXPECT_EQ(noise_warning({}, "here.yaml"), "");
    EXPECT_EQ(noise_warning(measured_with({{"linear 16x16", 1'000'000, 100'000},
                                           {"attention 8", 4'000'000, 40'000}}),
                            "here.yaml"),
              "");
}

TEST(Noise, OfOperatorsThatTakeNextToNothingIsLeftUnsaid) {
    const auto measured =
        measured_with({{"linear 16x16", 9'000'000, 90'000}, {"norm 16", 900'000, 800'000}});
    EXPECT_EQ(noise_warning(measured, "here.yaml"), "");
}

TEST(Noise, IsToldWithTheWorstOperatorsAndWhatToDo) {
    EXPECT_EQ(noise_warning(measured_with({{"linear 16x16", 1'000'000, 110'000},
                                           {"attention 8", 4'000'000, 2'000'000},
                                           {"gelu 4", 5'000'000, 10'000}}),
                            "here.yaml"),
              "warning: the repeated timings of 2 of 3 operators, which take 50 % of the measured "
              "time, are more than 10 % apart: attention 8 (forward) by 50 % of 4 ms, linear "
              "16x16 (forward) by 11 % of 1 ms. Others use this machine, or its clock changes; "
              "measure here.yaml again on a quiet machine");
}

TEST(Noise, NamesThreeOperatorsAtMost) {
    const std::string warning = noise_warning(
        measured_with({{"a", 10, 5}, {"b", 20, 10}, {"c", 30, 15}, {"d", 40, 20}}), "here.yaml");
    EXPECT_THAT(warning, testing::HasSubstr("of 4 of 4 operators"));
    EXPECT_THAT(warning, testing::HasSubstr("d (forward)"));
    EXPECT_THAT(warning, testing::HasSubstr("b (forward) by 50 % of 2e-05 ms and 1 more. "));
    EXPECT_THAT(warning, testing::Not(testing::HasSubstr("a (forward)")));
}

Span span(Action action, std::int64_t begin, std::int64_t end, Lane lane = Lane::Compute) {
    Span made;
    made.action = std::move(action);
    made.lane = lane;
    made.begin = Instant{Duration{begin}};
    made.end = Instant{Duration{end}};
    return made;
}

Compute compute(Pass pass, int stage, int micro_batch) {
    return {pass, Stage{stage}, MicroBatch{micro_batch, {}}};
}

/// Rank 0 of two: two forwards that wait for no rank, backwards that wait for the other rank.
TEST(StepTimings, TellWhatARecordShows) {
    StepRecord record;
    record.spans = {span(compute(Pass::Forward, 0, 1), 2'010, 2'900),
                    span(compute(Pass::Forward, 0, 0), 1'100, 2'000),
                    span(compute(Pass::Backward, 0, 0), 5'000, 7'000),
                    span(compute(Pass::Backward, 0, 1), 7'300, 9'200),
                    span(TiedGradReduce{Stage{0}}, 9'000, 9'500, Lane::Collective),
                    span(GradNorm{}, 9'500, 9'750, Lane::Collective),
                    span(OptimizerStep{}, 9'800, 10'300)};
    record.norm_reduction = Duration{40};
    record.spans[0].on_core = Duration{445};
    record.spans[2].on_core = Duration{1'200};
    record.spans[2].exposed = Duration{500};
    const StepTimings timings =
        timings_of(record, Instant{Duration{1'000}}, Instant{Duration{10'340}}, 2);
    const auto ns = [](double value) { return DoubleNear(value * 1e-9, 1e-15); };
    EXPECT_EQ(timings.passes, 4);
    EXPECT_THAT(timings.in_passes, ns(900 + 890 + 2000 + 1900));
    EXPECT_THAT(timings.gaps, ElementsAre(ns(10)));
    EXPECT_THAT(timings.before_first.value(), ns(100));
    EXPECT_THAT(timings.optimizer.value(), ns(500));
    EXPECT_THAT(timings.norm.value(), ns(210));  // 250, less 40 in which ranks add it up
    EXPECT_DOUBLE_EQ(timings.core_share.value(), (445.0 + 1'200) / (890 + 2'000 - 500));
    EXPECT_THAT(timings.after_last, ns(40));
}

TEST(StepTimings, CountNoWaitForAnother) {
    StepRecord record;
    record.spans = {span(compute(Pass::Forward, 1, 0), 500, 900),
                    span(compute(Pass::Backward, 1, 0), 910, 1'500),
                    span(OptimizerStep{}, 1'600, 1'700)};
    const StepTimings timings = timings_of(record, {}, Instant{Duration{1'700}}, 2);
    EXPECT_EQ(timings.before_first, std::nullopt);
    EXPECT_EQ(timings.norm, std::nullopt);
    EXPECT_EQ(timings.core_share, std::nullopt);
    ASSERT_EQ(timings.gaps.size(), 1u);  // the last stage's backward
    EXPECT_THAT(timings.gaps[0], DoubleNear(10e-9, 1e-15));
}

/// A network of little work: no speed is promised here.
class Calibrate : public testing::Test {
protected:
    scenarios::Cluster calibrated(const std::string& model, const std::string& training) const {
        const std::string file = (folder_.path() / "tiny.yaml").string();
        write_file(file, "model: " + model +
                             "\ncluster: this-machine\nparallel: {pipeline: 2}\nschedule: "
                             "interleaved-1f1b\ntraining: " +
                             training);
        CalibrateRequest request;
        request.scenarios = {file};
        request.set = {{"parallel.stages_per_rank", "2"}};
        request.how.warm_up = 1;
        request.how.steps = 2;
        return calibrate(request, "tiny machine", [](const std::string&) {});
    }
    static constexpr const char* kTiny =
        "{name: tiny, family: gpt2, layers: 8, hidden: 16, heads: 4, vocab: 27, max_positions: 8, "
        "dropout: 0}";

    ScratchFolder folder_;
};

TEST_F(Calibrate, MeasuresEveryOperatorOfEveryPass) {
    const scenarios::Cluster cluster =
        calibrated(kTiny, "{global_batch: 4, micro_batch: 1, seq_length: 8, precision: fp32}");
    ASSERT_NE(cluster.measured, nullptr);
    scenarios::Scenario scenario =
        scenarios::read_scenario((folder_.path() / "tiny.yaml").string(),
                                 {{"framework", "debubble"}, {"parallel.stages_per_rank", "2"}});
    scenario = executor_scenario(scenario);
    for (const bool split : {false, true}) {
        models::Execution how = scenarios::execution_of(scenario);
        how.split_backward = split;
        const models::StageGraph graph =
            models::build_stage(scenario.model, how, {0, 8, true, true});
        const std::vector<Part> parts = split
                                            ? std::vector{Part::Forward, Part::Input, Part::Weight}
                                            : std::vector{Part::Forward, Part::Fused};
        for (const models::Operator& op : graph.operators)
            for (const Part part : parts) {
                const auto* found = cluster.measured->find(signature_of(graph, op), part);
                ASSERT_NE(found, nullptr) << op.name << " " << name_of(part);
                EXPECT_GE(found->samples, 2);  // steps
            }
    }
    EXPECT_GT(cluster.measured->optimizer_seconds_per_element, 0);
    EXPECT_GT(cluster.node_link.bandwidth.value, 0);
    EXPECT_TRUE(cluster.measured->collectives.contains({models::Collective::Kind::AllReduce, 2}));
}

TEST_F(Calibrate, WritesAClusterThatIsReadBack) {
    const scenarios::Cluster cluster = calibrated(
        kTiny,
        "{global_batch: 4, micro_batch: 1, seq_length: 8, precision: fp32, recompute: full}");
    const std::string file = (folder_.path() / "machine.yaml").string();
    write_file(file, cluster_text(cluster));
    scenarios::Cluster back = scenarios::read_cluster(file);
    ASSERT_NE(back.measured, nullptr);
    EXPECT_EQ(*back.measured, *cluster.measured);
    bool recomputed = false;
    for (const auto& [key, found] : back.measured->operators)
        recomputed = recomputed || key.second == Part::Again;
    EXPECT_TRUE(recomputed);
    back.measured = cluster.measured;  // equal, as seen above, but another object
    EXPECT_EQ(back.gpu, cluster.gpu);
    EXPECT_EQ(back.node_link, cluster.node_link);
    EXPECT_EQ(back.origins, cluster.origins);
    EXPECT_EQ(back, cluster);
}

TEST_F(Calibrate, RefusesWhatItCannotMeasure) {
    CalibrateRequest request;
    request.scenarios = {"two-rank-gpt"};
    request.set = {
        {"parallel.pipeline", "1"}, {"parallel.data", "2"}, {"parallel.zero_stage", "3"}};
    EXPECT_THROW(calibrate(request, "m", [](const std::string&) {}), InputError);
}

scenarios::Scenario small_job(const std::string& data) {
    return scenarios::parse_scenario(fmt::format(R"(
model: {{family: gpt2, layers: 2, hidden: 16, heads: 4, vocab: 257, max_positions: 16}}
cluster: this-machine
gpus: 2
parallel: {{data: 2}}
training: {{global_batch: 8, micro_batch: 2, seq_length: 16, precision: fp32, steps: 9{}}}
)",
                                                 data),
                                     "small.yaml");
}

TEST(ShownBatches, AreThoseOfTheTrainingWhereThereIsData) {
    const ScratchFolder folder;
    std::string text;
    for (int i = 0; i < 4000; ++i) text += static_cast<char>('a' + i * i % 23);
    write_file(folder.path() / "text.txt", text);
    const scenarios::Scenario job =
        small_job(fmt::format(", data: {{text: {}}}", (folder.path() / "text.txt").string()));
    const auto data = data_of(job);
    ASSERT_TRUE(data.has_value());
    for (const int rank : {0, 1}) {
        ShownBatches shown(job, data, rank);
        for (const int step : {0, 3}) {
            const StepInputs inputs = shown.inputs(step, 2.0);
            EXPECT_EQ(inputs.gradient_scale, 2.0 / (8 * 16));
            ASSERT_EQ(inputs.micro_batches.size(), 2u);
            for (int mb = 0; mb < 2; ++mb)
                for (int i = 0; i < 2 * 16; ++i) {
                    const int at = (8 * step + 4 * rank + 2 * mb) * 16 + i;
                    const auto& batch = inputs.micro_batches[static_cast<std::size_t>(mb)];
                    EXPECT_EQ(batch.inputs.as<std::int32_t>()[i], text[at]);
                    EXPECT_EQ(batch.targets.as<std::int32_t>()[i], text[at + 1]);
                }
        }
    }
}

TEST(ShownBatches, AreRandomWhereThereIsNone) {
    const scenarios::Scenario job = small_job("");
    EXPECT_FALSE(data_of(job).has_value());
    ShownBatches shown(job, std::nullopt, 0);
    const StepInputs inputs = shown.inputs(1, 1.0);
    ASSERT_EQ(inputs.micro_batches.size(), 2u);
    std::set<std::int32_t> tokens;
    for (int i = 0; i < 2 * 16; ++i)
        tokens.insert(inputs.micro_batches[0].inputs.as<std::int32_t>()[i]);
    EXPECT_GT(tokens.size(), 8u);
}

}  // namespace
}  // namespace debubble::exec
