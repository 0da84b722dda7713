#include "exec/cuda/seating.h"

#include <gtest/gtest.h>

#include <vector>

#include "exec/comm/local.h"

namespace debubble::exec {
namespace {

Seat seat(const std::string& host, const std::string& gpu) {
    Seat seat;
    host.copy(seat.host.data(), seat.host.size() - 1);
    gpu.copy(seat.gpu.data(), seat.gpu.size() - 1);
    return seat;
}

TEST(Seating, RanksThatSeeOneGpuEachShareNone) {
    const std::vector<Seat> all{seat("a", "0000:18:00.0"), seat("a", "0000:2A:00.0"),
                                seat("b", "0000:18:00.0"), seat("b", "0000:2A:00.0")};
    for (int rank = 0; rank < 4; ++rank) {
        const Seating seating = seating_of(all, rank);
        EXPECT_EQ(seating.on_this_gpu, 1);
        EXPECT_FALSE(seating.some_share);
        EXPECT_FALSE(seating.one_host);
    }
}

TEST(Seating, AllRanksKnowThatSomeShare) {
    const std::vector<Seat> all{seat("a", "0"), seat("a", "1"), seat("a", "0")};
    const std::vector<int> sharing{2, 1, 2};
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Seating seating = seating_of(all, static_cast<int>(rank));
        EXPECT_EQ(seating.on_this_gpu, sharing[rank]);
        EXPECT_TRUE(seating.some_share);
        EXPECT_TRUE(seating.one_host);
    }
}

TEST(Seating, IsGatheredFromAllRanks) {
    run_local(3, Transport::Rendezvous, [](Communicator& host) {
        const Seating seating =
            gather_seating(host, host.rank() == 1 ? "0000:2A:00.0" : "0", std::chrono::seconds(60));
        EXPECT_EQ(seating.on_this_gpu, host.rank() == 1 ? 1 : 2);
        EXPECT_TRUE(seating.some_share);
        EXPECT_TRUE(seating.one_host);
    });
}

}  // namespace
}  // namespace debubble::exec
