#include "exec/cuda/gpu_placement.h"

#include <gtest/gtest.h>

#include <vector>

#include "exec/comm/transports.h"

namespace debubble::exec {
namespace {

DevicePlace place_on(const std::string& host, const std::string& gpu) {
    DevicePlace place;
    host.copy(place.host.data(), place.host.size() - 1);
    gpu.copy(place.gpu.data(), place.gpu.size() - 1);
    return place;
}

TEST(DeviceAssignment, RanksThatSeeOneGpuEachShareNone) {
    const std::vector<DevicePlace> all{place_on("a", "0000:18:00.0"), place_on("a", "0000:2A:00.0"),
                                       place_on("b", "0000:18:00.0"),
                                       place_on("b", "0000:2A:00.0")};
    for (int rank = 0; rank < 4; ++rank) {
        const DeviceAssignment assignment = assignment_of(all, rank);
        EXPECT_EQ(assignment.on_this_gpu, 1);
        EXPECT_FALSE(assignment.some_share);
        EXPECT_FALSE(assignment.one_host);
        EXPECT_TRUE(assignment.several_gpus);
    }
}

TEST(DeviceAssignment, AllRanksKnowThatSomeShare) {
    const std::vector<DevicePlace> all{place_on("a", "0"), place_on("a", "1"), place_on("a", "0")};
    const std::vector<int> sharing{2, 1, 2};
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const DeviceAssignment assignment = assignment_of(all, static_cast<int>(rank));
        EXPECT_EQ(assignment.on_this_gpu, sharing[rank]);
        EXPECT_TRUE(assignment.some_share);
        EXPECT_TRUE(assignment.one_host);
    }
}

TEST(DeviceAssignment, OneGpuOfOneHostIsNotSeveral) {
    const std::vector<DevicePlace> all{place_on("a", "0"), place_on("a", "0")};
    EXPECT_FALSE(assignment_of(all, 0).several_gpus);
    EXPECT_TRUE(assignment_of(std::vector{place_on("a", "0"), place_on("b", "0")}, 1).several_gpus)
        << "equal numbers on two hosts";
}

TEST(DeviceAssignment, IsGatheredFromAllRanks) {
    run_local(3, Transport::Own, [](Communicator& host) {
        const DeviceAssignment assignment = gather_assignment(
            host, host.rank() == 1 ? "0000:2A:00.0" : "0", std::chrono::seconds(60));
        EXPECT_EQ(assignment.on_this_gpu, host.rank() == 1 ? 1 : 2);
        EXPECT_TRUE(assignment.some_share);
        EXPECT_TRUE(assignment.one_host);
    });
}

}  // namespace
}  // namespace debubble::exec
