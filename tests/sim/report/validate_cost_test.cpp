#include "sim/report/validate_cost.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

constexpr const char* kTable =
    "gpus,global_batch,micro_batch,hidden,heads,layers,seq_length,tensor,data,pipeline,"
    "iteration_ms\n"
    "64,512,8,3072,32,30,2048,1,64,1,4000\n"
    "64,512,16,3072,32,30,2048,2,32,1,8000\n"
    "64,512,4,3072,32,30,2048,8,8,1,2000\n";

/// Says that everything takes as long as told.
Predictor always(double seconds) {
    return [=](const scenarios::Scenario&) {
        Prediction prediction;
        prediction.step_time_s = seconds;
        return prediction;
    };
}

TEST(ValidateCost, SetsPredictionsBesideMeasurements) {
    const auto table = read_measured(kTable, "a100_multi_node.csv");
    const CostValidation validation = validate_cost(table, always(4));
    ASSERT_EQ(validation.rows.size(), 3u);
    EXPECT_EQ(validation.rows[1].line, 3);
    EXPECT_DOUBLE_EQ(validation.rows[0].error(), 0);
    EXPECT_DOUBLE_EQ(validation.rows[1].error(), -0.5);
    EXPECT_DOUBLE_EQ(validation.rows[2].error(), 1);
    EXPECT_DOUBLE_EQ(validation.prediction.mean, 0.5);
    EXPECT_DOUBLE_EQ(validation.prediction.median, 0.5);
    EXPECT_DOUBLE_EQ(validation.prediction.worst, 1);
    EXPECT_NEAR(validation.prediction.bias, 0.5 / 3, 1e-12);
    // Equal work: a constant rate says the same time for all, here the median's.
    EXPECT_NEAR(validation.rows[0].null_s, validation.rows[2].null_s, 1e-12);
    EXPECT_LE(validation.null_model.mean, validation.prediction.mean + 1e-12);
}

TEST(ValidateCost, ReadsRowsAsTheScenariosTheyDescribe) {
    const auto table = read_measured(kTable, "a100_multi_node.csv");
    std::vector<scenarios::Scenario> seen;
    validate_cost(table, [&](const scenarios::Scenario& scenario) {
        seen.push_back(scenario);
        return Prediction{};
    });
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[0].parallel.data, 64);
    EXPECT_EQ(seen[1].training.micro_batches, 1);
    EXPECT_EQ(seen[2].parallel.tensor, 8);
    EXPECT_EQ(seen[2].training.micro_batches, 16);
    EXPECT_EQ(seen[0].training.recompute, models::Recompute::Full);
    EXPECT_EQ(seen[0].training.attention, models::AttentionKernel::Unfused);
    EXPECT_EQ(seen[0].cluster.network.nic_bandwidth.value, 12.5e9);
    EXPECT_EQ(seen[0].framework.name, "megatron-2021");
}

TEST(ValidateCost, TakesTheFastestMicrobatchThatFitsWhereNoneIsStated) {
    const auto table = read_measured(
        "heads,hidden,layers,tensor,pipeline,gpus,global_batch,tflops_per_gpu\n"
        "24,2304,24,1,1,32,512,137\n",
        "selene_weak_scaling.csv");
    const auto predictor = [](const scenarios::Scenario& scenario) {
        Prediction prediction;
        prediction.step_time_s = 10.0 / scenario.training.micro_batch;
        prediction.fits = scenario.training.micro_batch < 8;
        return prediction;
    };
    const CostValidation validation = validate_cost(table, predictor);
    ASSERT_EQ(validation.rows.size(), 1u);
    EXPECT_DOUBLE_EQ(validation.rows[0].predicted_s, 2.5);
    // 96 B s l h^2 (1 + s/6h + V/16lh) over 32 GPUs at 137 TFLOP/s: 3.53 s.
    EXPECT_NEAR(validation.rows[0].measured_s, 3.528, 1e-3);
}

/// The chunks per rank of every scenario that the only row of a table may stand for.
std::vector<int> chunks_of(const std::string& table) {
    std::vector<int> chunks;
    validate_cost(read_measured(table, "h100_weak_scaling.csv"),
                  [&](const scenarios::Scenario& scenario) {
                      chunks.push_back(scenario.parallel.stages_per_rank);
                      return Prediction{};
                  });
    return chunks;
}

TEST(ValidateCost, TriesAllChunksWhereATableInterleavesAndDoesNotSayHowFar) {
    const std::string columns = "heads,hidden,layers,tensor,pipeline,gpus,global_batch,micro_batch";
    const std::string row = "96,12288,12,8,2,16,32,1";
    EXPECT_EQ(chunks_of(columns + ",tflops_per_gpu\n" + row + ",400\n"), (std::vector{1, 2, 3, 6}));
    EXPECT_EQ(chunks_of(columns + ",tflops_per_gpu,virtual_stages\n" + row + ",400,3\n"),
              std::vector{3});
}

TEST(ValidateCost, LeavesImpossibleRowsOutAndSaysWhy) {
    const auto table = read_measured(
        "gpus,global_batch,micro_batch,hidden,heads,layers,tensor,data,pipeline,iteration_s\n"
        "8,8,1,1000,25,24,2,4,1,1\n",
        "steps.csv");
    const auto refuses = [](const scenarios::Scenario&) -> Prediction {
        throw InputError("25 heads cannot be cut into 2");
    };
    const CostValidation validation = validate_cost(table, refuses);
    EXPECT_TRUE(validation.rows.empty());
    ASSERT_EQ(validation.skipped.size(), 1u);
    EXPECT_THAT(validation.skipped[0], testing::StartsWith("line 2: "));
}

TEST(ValidateCost, RefusesTablesWithEveryBadCell) {
    const std::string text =
        "gpus,global_batch,hidden,heads,layers,iteration_s\n"
        "8,many,1024,16,24,1\n"
        "8,8,1024,-16,24,x\n";
    try {
        read_measured(text, "bad.csv");
        FAIL() << "it was accepted";
    } catch (const InputError& error) {
        ASSERT_EQ(error.diagnostics().size(), 3u);
        EXPECT_EQ(error.diagnostics()[0].where.line, 2);
        EXPECT_EQ(error.diagnostics()[2].where.line, 3);
    }
    EXPECT_THROW(read_measured("", "empty.csv"), InputError);
    EXPECT_THROW(read_measured("gpus,hidden\n8,\"torn", "torn.csv"), InputError);
}

TEST(ValidateCost, PointsAtTheHeaderThatLacksAColumnAndAtTheRowThatLacksAValue) {
    const std::string text =
        "gpus,global_batch,hidden,heads,iteration_s\n"
        "8,64,1024,16,1\n"
        "8,64,,16,1\n"
        "8,64,1024,16,1\n";
    try {
        read_measured(text, "bad.csv");
        FAIL() << "it was accepted";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "bad.csv:1:1: error: the table has no column 'layers'\n"
                     "  gpus,global_batch,hidden,heads,iteration_s\n"
                     "  ^\n"
                     "bad.csv:3:1: error: 'hidden' is missing\n"
                     "  8,64,,16,1\n"
                     "  ^\n");
    }
}

}  // namespace
}  // namespace debubble::sim
