#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "exec/program/calibrate/calibrate.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/cluster/reader.h"
#include "sim/predict.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/exec/support/tested_device.h"

/// A device from its calibration to a prediction by it. No promise of speed.
namespace debubble::exec {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kScenario = R"(
model: {name: tiny, family: gpt2, layers: 2, hidden: 16, heads: 2, vocab: 27, max_positions: 8,
        dropout: 0}
cluster: this-machine
parallel: {pipeline: 2, data: 1}
schedule: 1f1b
framework: debubble
training: {global_batch: 2, micro_batch: 1, seq_length: 8, precision: fp32}
)";

/// One calibration for all tests.
class DeviceCalibrate : public testing::Test {
protected:
    struct Made {
        ScratchFolder folder;
        std::string scenario = (folder.path() / "tiny.yaml").string();
        scenarios::Cluster cluster;
        std::vector<std::string> notes;

        Made() {
            write_file(scenario, kScenario);
            CalibrateRequest request;
            request.scenarios = {scenario};
            request.how.warm_up = 1;
            request.how.steps = 2;
            request.how.device = [](int rank, int ranks) {
                return std::shared_ptr<Device>(tested_device(rank, ranks));
            };
            request.how.gpus = 2;  // as if, for what is said of them
            request.how.sweep = {std::chrono::milliseconds(1), 1024, 128, 1 << 16};
            cluster = calibrate(request, "a device",
                                [this](const std::string& note) { notes.push_back(note); });
        }
    };
    static const Made& made() {
        static const Made once;
        return once;
    }
    void SetUp() override {
        if (const std::string reason = why_no_device(); !reason.empty()) GTEST_SKIP() << reason;
    }
};

TEST_F(DeviceCalibrate, PricesEveryOperatorOfItsScenarioInASimulation) {
    const scenarios::Cluster& cluster = made().cluster;
    const std::string file = (made().folder.path() / "device.yaml").string();
    write_file(file, cluster_text(cluster));
    scenarios::Cluster back = scenarios::read_cluster(file);
    ASSERT_NE(back.measured, nullptr);
    EXPECT_EQ(*back.measured, *cluster.measured);
    back.measured = cluster.measured;  // equal, as seen above, but another object
    EXPECT_EQ(back, cluster);

    const sim::Prediction predicted =
        sim::predict(scenarios::read_scenario(made().scenario, {{"cluster", file}})).prediction;
    EXPECT_GT(predicted.step_time_s, 0);
    std::vector<std::string> constants;
    bool measured = false;
    for (const auto& row : predicted.provenance) {
        constants.push_back(row.what);
        measured |= row.what == "measured.operators";
    }
    EXPECT_TRUE(measured);
    EXPECT_THAT(constants, Each(Not(HasSubstr("not measured"))));
}

/// Ranks and continued runs that read the same file then take the same algorithms.
TEST_F(DeviceCalibrate, KeepsTheFastestAlgorithmOfEveryProduct) {
    const auto& products = made().cluster.measured->products;
    EXPECT_GE(products.size(), 4u) << "a forward and two gradients at least";
    for (const auto& [product, algorithm] : products) EXPECT_FALSE(algorithm.empty()) << product;
}

TEST_F(DeviceCalibrate, SaysOfEveryConstantWhereItComesFrom) {
    const scenarios::Cluster& cluster = made().cluster;
    EXPECT_THAT(cluster.source, HasSubstr("debubble calibrate --device cuda: cuda kernels ("));
    const DeviceFacts facts = tested_device(0, 2)->facts();
    EXPECT_THAT(cluster.source, HasSubstr(facts.software));
    EXPECT_EQ(cluster.gpu.sms, facts.multiprocessors);
    EXPECT_EQ(cluster.gpu.memory.count, facts.memory.count / facts.ranks);
    for (const char* key :
         {"gpu.gemm_efficiency", "gpu.gemm_overhead", "gpu.attention_forward_efficiency",
          "gpu.attention_backward_efficiency", "gpu.memory_efficiency", "gpu.kernel_overhead",
          "gpu.host_link", "node_link.bandwidth", "node_link.latency"}) {
        ASSERT_TRUE(cluster.origins.contains(key)) << key;
        EXPECT_EQ(cluster.origins.at(key).provenance, scenarios::Provenance::Measured) << key;
    }
    EXPECT_THAT(cluster.origins.at("gpu.gemm_efficiency").source,
                HasSubstr("1024 deep in 16 bits"));
    EXPECT_THAT(cluster.origins.at("gpu.attention_backward_efficiency").source,
                HasSubstr("128 tokens backward"));
    EXPECT_GT(cluster.gpu.host_link.value, 0);
    const std::string detour = "between GPUs are staged through the host's memory";
    EXPECT_THAT(cluster.origins.at("node_link.bandwidth").source, HasSubstr(detour));
    EXPECT_THAT(made().notes, testing::Contains(HasSubstr(detour)));
    EXPECT_TRUE(cluster.measured->collectives.contains({models::Collective::Kind::AllReduce, 2}));
}

}  // namespace
}  // namespace debubble::exec
