#include "sim/measured/compare_measured.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "sim/measured/accuracy_report.h"

namespace debubble::sim {
namespace {

/// A row of a GPT-2 on some GPUs of the cluster; more keys of `training` may follow.
std::string row(int gpus, double step_s, const std::string& training = ", \"micro_batch\": 1",
                const std::string& schedule = "\"1f1b\"", int pipeline = 1) {
    return fmt::format(
        R"({{"row": "x{} {}", "scenario": {{"model": "gpt2-xl", "cluster": "dgx-a100-80gb", "gpus": {}, )"
        R"("parallel": {{"pipeline": {}, "data": {}}}, "schedule": {}, )"
        R"("training": {{"global_batch": 16, "seq_length": 1024{}}}}}, "measured": {{"step_s": {}}}}})"
        "\n",
        gpus, step_s, gpus, pipeline, gpus / pipeline, schedule, training, step_s);
}

AccuracyReport report_of(const std::string& table, const auto& predict_step) {
    AccuracyReport report;
    report.tables = {"table.jsonl"};
    std::vector<MeasuredStep> steps;
    read_measured(table, "table.jsonl", steps);
    report.rows = compare_measured(steps, {}, 1, [&](const scenarios::Scenario& scenario, bool) {
        Prediction prediction = predict_step(scenario);
        prediction.tflops_per_gpu = 100 / prediction.step_time_s / scenario.gpus;
        return prediction;
    });
    fit_null_models(report.rows);
    return report;
}

Prediction step_of(double seconds) {
    Prediction prediction;
    prediction.step_time_s = seconds;
    return prediction;
}

TEST(CompareMeasured, SetsPredictionsBesideMeasurements) {
    const auto report =
        report_of(row(1, 8) + row(2, 4) + row(4, 1), [](const auto&) { return step_of(4); });
    ASSERT_EQ(report.rows.size(), 3u);
    EXPECT_DOUBLE_EQ(report.rows[0].time->error(), -0.5);
    EXPECT_DOUBLE_EQ(report.rows[1].time->error(), 0);
    EXPECT_DOUBLE_EQ(report.rows[2].time->error(), 3);
    const AccuracySummary all = accuracy_by(report.rows, "model").front().summary;
    EXPECT_DOUBLE_EQ(all.time.mean, 3.5 / 3);
    EXPECT_DOUBLE_EQ(all.time.median, 0.5);
    EXPECT_DOUBLE_EQ(all.time.worst, 3);
    EXPECT_DOUBLE_EQ(all.time.bias, 2.5 / 3);
}

/// In the first step the moments, 8 of the 12 bytes of state, are made by the optimizer.
TEST(CompareMeasured, SetsAPeakOfTheFirstStepBesideOneWithoutMoments) {
    constexpr std::int64_t kGib = std::int64_t{1} << 30;
    const auto error_of = [&](const char* kind, std::int64_t activations) {
        std::string table = row(1, 8);
        table.replace(
            table.find("\"measured\": {"), 13,
            fmt::format(R"("measured": {{"peak_gib": 16, "peak_gib_kind": "{}", )", kind));
        const auto report = report_of(table, [&](const auto&) {
            Prediction prediction = step_of(8);
            RankPrediction rank;
            rank.memory[static_cast<std::size_t>(MemoryClass::Optimizer)] = Bytes{12 * kGib};
            rank.memory[static_cast<std::size_t>(MemoryClass::Activations)] =
                Bytes{activations * kGib};
            rank.peak_memory = Bytes{24 * kGib};
            prediction.ranks = {rank};
            return prediction;
        });
        return report.rows.front().memory->error();
    };
    EXPECT_DOUBLE_EQ(error_of("allocated, rank 0, after iteration 1", 12), 0);
    EXPECT_DOUBLE_EQ(error_of("allocated, rank 0, after iteration 2", 12), 0.5);
    EXPECT_DOUBLE_EQ(error_of("allocated, rank 0, after iteration 1", 0), 0.5)
        << "a peak of the optimizer has its moments";
}

/// All work is 100 TFLOP: rows on 1, 2 and 4 GPUs ran at 12.5, 12.5 and 25 TFLOP/s per GPU.
TEST(CompareMeasured, FitsOneRateToAllRowsAndOneToTheOthersOfAGpu) {
    const auto report =
        report_of(row(1, 8) + row(2, 4) + row(4, 1), [](const auto&) { return step_of(4); });
    EXPECT_NEAR(report.rows[0].null_s, 8, 1e-9);
    EXPECT_NEAR(report.rows[2].null_s, 2, 1e-9);
    EXPECT_NEAR(report.rows[2].null_of_others_s.value(), 2, 1e-9);
    const auto one = report_of(row(1, 8), [](const auto&) { return step_of(4); });
    EXPECT_FALSE(one.rows[0].null_of_others_s);
}

TEST(CompareMeasured, TakesTheFastestMicrobatchThatFitsWhereNoneIsStated) {
    const auto report = report_of(row(1, 2.5, ""), [](const scenarios::Scenario& scenario) {
        Prediction prediction = step_of(10.0 / scenario.training.micro_batch);
        prediction.fits = scenario.training.micro_batch < 8;
        return prediction;
    });
    EXPECT_DOUBLE_EQ(report.rows[0].time->predicted, 2.5);
    EXPECT_EQ(report.rows[0].chosen, "micro_batch 4");
}

/// A recipe that was tuned has what is fastest; other software has neither unless it is told to.
TEST(CompareMeasured, TakesTheFastestGraphsAndDispatcherOfTunedRecipesThatStateNone) {
    const auto chosen = [](const std::string& release, const std::string& not_stated) {
        const std::string table = fmt::format(
            R"({{"row": "r", "scenario": {{"model": "mixtral-8x7b", "cluster": "hgx-h100", "gpus": 16, )"
            R"("parallel": {{"expert": 8}}, "training": {{"micro_batch": 1, "global_batch": 16, "seq_length": 4096}}, )"
            R"("framework": {{"base": "megatron-2026", "release": "{}"}}}}, )"
            R"("measured": {{"step_s": 1}}, "not_stated": [{}]}})"
            "\n",
            release, not_stated);
        const auto report = report_of(table, [](const scenarios::Scenario& scenario) {
            const scenarios::Framework& framework = scenario.framework;
            const bool graphs = framework.cuda_graphs.has(scenarios::GraphScope::Attention);
            const bool deepep = framework.kernels.dispatcher == models::Dispatcher::DeepEp;
            return step_of(4 - 2 * graphs - deepep);
        });
        EXPECT_FALSE(report.rows[0].unsaid) << *report.rows[0].unsaid;
        return report.rows[0].chosen;
    };
    const std::string graphs = "cuda_graphs [attn, moe_router, moe_preprocess]";
    EXPECT_EQ(chosen("nemo 25.11", R"("cuda_graphs", "dispatcher")"),
              graphs + ", dispatcher deepep");
    EXPECT_EQ(chosen("nemo 25.11", R"("cuda_graphs")"), graphs);
    EXPECT_EQ(chosen("nemo 25.11", ""), "");
    EXPECT_EQ(chosen("megatron-core 0.14", R"("cuda_graphs", "dispatcher")"), "");
}

/// Where its memory is compared a network has the row's vocabulary, and so it has if the source
/// states it.
TEST(CompareMeasured, TakesAUsualVocabularyWhereNoneIsStatedAndOnlyTimeTells) {
    const auto chosen = [](const std::string& more, const std::string& not_stated) {
        const std::string table = fmt::format(
            R"({{"row": "r", "scenario": {{"model": {{"family": "gpt2", "layers": 2, "hidden": 64, "heads": 2, )"
            R"("vocab": 50257, "max_positions": 64}}, "cluster": "dgx-a100-80gb", "gpus": 1, )"
            R"("training": {{"micro_batch": 1, "global_batch": 1, "seq_length": 64}}}}, )"
            R"("measured": {{"step_s": 1{}}}, "not_stated": [{}]}})"
            "\n",
            more, not_stated);
        const auto report = report_of(table, [](const scenarios::Scenario& scenario) {
            return step_of(static_cast<double>(scenario.model.vocab));
        });
        EXPECT_FALSE(report.rows[0].unsaid) << *report.rows[0].unsaid;
        return report.rows[0].chosen;
    };
    EXPECT_EQ(chosen("", R"("vocab")"), "vocab 32000");
    EXPECT_EQ(chosen(R"(, "peak_gib": 9, "peak_gib_kind": "as printed")", R"("vocab")"),
              "vocab 32000");
    EXPECT_EQ(chosen(R"(, "peak_gib": 9, "peak_gib_kind": "allocated")", R"("vocab")"), "");
    EXPECT_EQ(chosen("", ""), "");
}

/// Whether a launch reduces gradients in 16 bits, only time can tell where the source does not.
TEST(CompareMeasured, TakesTheFasterTypeOfGradientsOnTheWireWhereNoneIsStated) {
    const auto chosen = [](const std::string& not_stated, double in_bf16) {
        const std::string table = fmt::format(
            R"({{"row": "r", "scenario": {{"model": "gpt2", "cluster": "dgx-a100-80gb", "gpus": 2, )"
            R"("parallel": {{"data": 2}}, "training": {{"micro_batch": 1, "global_batch": 2}}}}, )"
            R"("measured": {{"step_s": 1}}, "not_stated": [{}]}})"
            "\n",
            not_stated);
        const auto report = report_of(table, [&](const scenarios::Scenario& scenario) {
            return step_of(scenario.parallel.communication_dtype ? in_bf16 : 1);
        });
        EXPECT_FALSE(report.rows[0].unsaid) << *report.rows[0].unsaid;
        return report.rows[0].chosen;
    };
    EXPECT_EQ(chosen(R"("communication_dtype")", 0.5), "communication_dtype bf16");
    EXPECT_EQ(chosen(R"("communication_dtype")", 2), "");
    EXPECT_EQ(chosen("", 0.5), "");
}

TEST(CompareMeasured, FillsAPipelineWhoseBatchNobodyStatesWithEightMicrobatchesPerRank) {
    const std::string table =
        R"({"row": "r", "scenario": {"model": "llama2-7b", "cluster": "dgx-a100-80gb", "gpus": 8, )"
        R"("parallel": {"pipeline": 8}, "schedule": "1f1b", "training": {"micro_batch": 2}}, )"
        R"("measured": {"tokens_per_s_per_gpu": 1000}})"
        "\n";
    const auto report = report_of(table, [](const scenarios::Scenario& scenario) {
        EXPECT_EQ(scenario.training.micro_batches, 64);
        EXPECT_EQ(scenario.training.seq_length, 4096);
        return step_of(1);
    });
    ASSERT_FALSE(report.rows[0].unsaid) << *report.rows[0].unsaid;
    EXPECT_EQ(report.rows[0].chosen, "seq_length 4096, micro_batches 64");
}

TEST(CompareMeasured, TakesTheLongestSequenceOfANetworkThatIsShorterThanTheUsualOne) {
    const std::string table =
        R"({"row": "r", "scenario": {"model": "gpt2-xl", "cluster": "dgx-a100-80gb", "gpus": 1, )"
        R"("training": {"micro_batch": 2, "global_batch": 2}}, "measured": {"step_s": 1}})"
        "\n";
    const auto report = report_of(table, [](const scenarios::Scenario& scenario) {
        EXPECT_EQ(scenario.training.seq_length, 1024);
        return step_of(1);
    });
    ASSERT_FALSE(report.rows[0].unsaid) << *report.rows[0].unsaid;
    EXPECT_EQ(report.rows[0].chosen, "");
}

TEST(CompareMeasured, TriesAllChunksOfAnInterleavedScheduleThatDoesNotSayHowMany) {
    std::vector<int> chunks;
    const auto report = report_of(row(2, 1, ", \"micro_batch\": 1", "\"interleaved-1f1b\"", 2),
                                  [&](const scenarios::Scenario& scenario) {
                                      chunks.push_back(scenario.parallel.stages_per_rank);
                                      return step_of(1);
                                  });
    EXPECT_FALSE(report.rows[0].unsaid) << *report.rows[0].unsaid;
    EXPECT_THAT(chunks, testing::IsSupersetOf({2, 3, 4, 6, 8, 12, 24}));  // of 48 layers on 2 ranks
}

TEST(CompareMeasured, CountsRowsThatItCannotSayWithTheReason) {
    const std::string unknown =
        R"({"row": "u", "scenario": {"model": "no-such-model", "cluster": "dgx-a100-80gb"}, )"
        R"("measured": {"step_s": 1}})";
    const auto report = report_of(row(1, 1) + unknown, [](const auto&) { return step_of(1); });
    EXPECT_FALSE(report.rows[0].unsaid);
    EXPECT_THAT(report.rows[1].unsaid.value(), testing::HasSubstr("no-such-model"));
    EXPECT_THAT(to_text(report), testing::AllOf(testing::HasSubstr("1 of 2 rows are predicted"),
                                                testing::HasSubstr("not predicted, one row: ")));
    const auto json = nlohmann::json::parse(to_json(report));
    EXPECT_EQ(json["time"]["rows"], 2);
    EXPECT_EQ(json["time"]["said"], 1);
    EXPECT_EQ(json["time"]["mape"], 0.0);
    EXPECT_EQ(json["rows"][1]["said"], false);
}

TEST(CompareMeasured, RegretsTheCutThatItWouldHaveChosen) {
    const std::string table = row(4, 2) + row(4, 3, ", \"micro_batch\": 2") + row(2, 9);
    const auto report = report_of(table, [](const scenarios::Scenario& scenario) {
        return step_of(scenario.training.micro_batch == 1 ? 5 : 4);
    });
    const auto groups = cut_groups(report.rows);
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].rows.size(), 2u);
    EXPECT_DOUBLE_EQ(groups[0].regret(), 0.5);
    EXPECT_DOUBLE_EQ(nlohmann::json::parse(to_json(report))["groups"][0]["regret"], 50);
}

TEST(CompareMeasured, SplitsErrorsByTheValuesOfAKey) {
    auto report =
        report_of(row(1, 8) + row(2, 4) + row(2, 2), [](const auto&) { return step_of(4); });
    report.by = {"gpus"};
    const auto json = nlohmann::json::parse(to_json(report))["by"]["gpus"];
    EXPECT_EQ(json["1"]["time"]["mape"], 50.0);
    EXPECT_EQ(json["2"]["time"]["rows"], 2);
    EXPECT_EQ(json["2"]["time"]["mape"], 50.0);
}

}  // namespace
}  // namespace debubble::sim
