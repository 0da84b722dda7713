#include <set>

#include <gmock/gmock.h>

#include "scenarios/cluster/reader.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::scenarios {
namespace {

constexpr const char* kBare =
    "model: gpt2\n"
    "cluster:\n"
    "  gpus_per_node: 8\n"
    "  gpu: {sms: 108, memory: 80 GiB, memory_bandwidth: 2 TB/s}\n"
    "  node_link: {bandwidth: 300 GB/s}\n"
    "  network: {nic_bandwidth: 25 GB/s}\n";

Cluster cluster_with(const std::vector<Override>& overrides) {
    return parse_scenario(kBare, "here.yaml", overrides).cluster;
}

/// These stand for nothing when they are not given.
const std::set<std::string> kNoConstants{"gpu.threads", "gpu.attention_rates", "gpu.kernels",
                                         "node_link.group_efficiency"};

TEST(ClusterDefaults, CoverEveryConstantThatAFileMayLeaveOut) {
    const Cluster bare = cluster_with({});
    std::set<std::string> covered = kNoConstants;
    for (const auto& [key, origin] : bare.origins) covered.insert(key);
    for (const DefaultConstant& constant : defaults_of(bare)) covered.insert(constant.key);
    for (const std::string& key : cluster_constants()) EXPECT_TRUE(covered.contains(key)) << key;
}

TEST(ClusterDefaults, AreTheValuesThatTheReaderTakes) {
    Cluster bare = cluster_with({});
    for (const DefaultConstant& constant : defaults_of(bare)) {
        Cluster given = cluster_with({{"cluster." + constant.key, constant.value}});
        EXPECT_EQ(given.gpu, bare.gpu) << constant.key;
        EXPECT_EQ(given.node_link, bare.node_link) << constant.key;
        EXPECT_EQ(given.network, bare.network) << constant.key;
        EXPECT_EQ(given.host_adam_parameters_per_s, bare.host_adam_parameters_per_s);
        EXPECT_FALSE(constant.source.empty()) << constant.key;
    }
}

TEST(ClusterDefaults, AreNotThoseThatTheFileGives) {
    for (const DefaultConstant& constant :
         defaults_of(cluster_with({{"cluster.gpu.gemm_efficiency", "0.825"}})))
        EXPECT_NE(constant.key, "gpu.gemm_efficiency");
}

}  // namespace
}  // namespace debubble::scenarios
