#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/cluster/reader.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::scenarios {
namespace {

Cluster cluster_of(const std::string& cluster) {
    return parse_scenario("model: gpt2\ncluster:\n" + cluster, "here.yaml", {}).cluster;
}

TEST(ClusterReferences, StandForTheValueOfTheOtherCluster) {
    const Cluster other = read_cluster("hgx-h100");
    const Cluster cluster = cluster_of(
        "  base: dgx-v100\n"
        "  gpu: {memory_bandwidth: {as: hgx-h100}, attention_rates: {as: hgx-h100}}\n"
        "  network: {nic_bandwidth: {as: hgx-h100}}\n");
    EXPECT_EQ(cluster.gpu.memory_bandwidth.value, other.gpu.memory_bandwidth.value);
    EXPECT_EQ(cluster.gpu.attention_rates, other.gpu.attention_rates);
    EXPECT_EQ(cluster.network.nic_bandwidth.value, other.network.nic_bandwidth.value);
    EXPECT_EQ(cluster.gpu.sms, read_cluster("dgx-v100").gpu.sms);
}

TEST(ClusterReferences, SayWhoseValueItIs) {
    const Cluster cluster =
        cluster_of("  base: dgx-a100-80gb\n  gpu: {memory_efficiency: {as: hgx-b200}}\n");
    EXPECT_EQ(cluster.gpu.memory_efficiency, read_cluster("hgx-b200").gpu.memory_efficiency);
    const Cluster::Origin& origin = cluster.origins.at("gpu.memory_efficiency");
    EXPECT_EQ(origin.provenance, Provenance::Assumed);
    EXPECT_THAT(origin.source, testing::HasSubstr("as in hgx-b200, not found on this machine"));
}

TEST(ClusterReferences, OfShippedFilesFollowThem) {
    const Cluster own = read_cluster("hgx-h100");
    const Cluster other = read_cluster("hgx-h800");
    EXPECT_EQ(other.gpu.sustained_clock, own.gpu.sustained_clock);
    EXPECT_EQ(other.gpu.fp8_sustained_clock, own.gpu.fp8_sustained_clock);
    EXPECT_THAT(other.origins.at("gpu.sustained_clock").source,
                testing::AllOf(testing::HasSubstr("as in hgx-h100"), testing::HasSubstr("fitted")));
}

TEST(ClusterReferences, YieldToAValueAndToOnesOwnReference) {
    EXPECT_EQ(cluster_of("  base: hgx-h800\n  gpu: {sustained_clock: 0.5}\n").gpu.sustained_clock,
              0.5);
    EXPECT_EQ(cluster_of("  base: hgx-h800\n  gpu: {sustained_clock: {as: dgx-a100-40gb}}\n")
                  .gpu.sustained_clock,
              read_cluster("dgx-a100-80gb").gpu.sustained_clock);
}

TEST(ClusterReferences, AreFollowedThroughFilesButNotInACircle) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "references";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "one.yaml")
        << "base: dgx-a100-80gb\ngpu: {clock_spread: {as: ./two.yaml}, "
           "gemm_fill: {as: ./two.yaml}}\n";
    std::ofstream(folder / "two.yaml")
        << "base: dgx-a100-80gb\ngpu: {clock_spread: {as: ./one.yaml}, "
           "gemm_fill: 0.25}\n";
    try {
        read_cluster((folder / "one.yaml").string());
        FAIL() << "a circle was followed";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("'gpu.clock_spread' refers to itself"));
        EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("'gpu.gemm_fill'")));
    }
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace debubble::scenarios
