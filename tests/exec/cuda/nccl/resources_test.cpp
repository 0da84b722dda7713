#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "exec/cuda/nccl/calls.h"
#include "tests/exec/cuda/nccl/fake_nccl.h"
#include "tests/exec/support/comm/comm_checks.h"

/// What communicators of NCCL take of a GPU: multiprocessors and memory.
namespace debubble::exec::nccl {
namespace {

TEST(NcclPurpose, OnlyGroupsForWhichKernelsStandStillAreNotCapped) {
    EXPECT_EQ(most_ctas(Purpose::Edge), 2);
    EXPECT_EQ(most_ctas(Purpose::Group), 4);
    EXPECT_EQ(most_ctas(Purpose::StandingGroup), 0);
}

TEST(NcclPlan, TensorContextAndExpertGroupsStandStill) {
    const RankGrid grid{2, 2, 2, 2};
    for (int rank = 0; rank < grid.size(); ++rank) {
        const GridPlace place = grid.place_of(rank);
        EXPECT_TRUE(stands_still(grid, grid.tensor_group(place)));
        EXPECT_TRUE(stands_still(grid, grid.context_group(place)));
        EXPECT_FALSE(stands_still(grid, grid.gradient_group(place)));
        EXPECT_FALSE(stands_still(grid, grid.pipeline_group(place)));
    }
    RankGrid experts{2, 1, 4, 1, 4, 1};
    for (int rank = 0; rank < experts.size(); ++rank) {
        const GridPlace place = experts.place_of(rank);
        EXPECT_TRUE(stands_still(experts, experts.expert_group(place)));
        EXPECT_TRUE(stands_still(experts, experts.expert_block_group(place)));
        EXPECT_FALSE(stands_still(experts, experts.expert_gradient_group(place)));
    }
    const RankGrid data_only{1, 1, 4, 1};
    EXPECT_FALSE(stands_still(data_only, data_only.gradient_group({})));
}

/// Ranks 0 and 1 are a tensor group, 2 and 3 another; 0 and 2 share gradients.
GroupUse two_by_two(std::span<const int> ranks) {
    const RankGrid grid{2, 1, 2, 1};
    return {{}, true, stands_still(grid, ranks)};
}

/// A rank's communicators; the body runs on each of four ranks.
void on_four_ranks(FakeLibrary& library, const GroupPlan& plan,
                   const std::function<void(Communicator& world)>& body) {
    run_local(4, Transport::Own, [&](Communicator& host) {
        FakeLanes lanes;
        const auto world =
            connect(host, lanes, std::make_unique<FakeCalls>(library, lanes), plan, 60s);
        body(*world);
        host.barrier("BARRIER")->wait(soon());
    });
}

TEST(NcclPlan, CommunicatorsAreMadeForWhatTheirGroupIs) {
    FakeLibrary library;
    on_four_ranks(library, two_by_two, [](Communicator& world) {
        const int rank = world.rank();
        const int tensor = rank / 2 * 2, data = rank % 2;
        const auto of_tensor = world.group(std::vector{tensor, tensor + 1});
        const auto of_data = world.group(std::vector{data, data + 2});
    });
    ASSERT_EQ(library.purposes.size(), 4u);
    for (const auto& [rank, purposes] : library.purposes)
        EXPECT_EQ(purposes, (std::vector{Purpose::Group, Purpose::StandingGroup, Purpose::Group}))
            << "the whole, tensor, data";
}

TEST(NcclPlan, MultiprocessorsAreTakenByWhatRunsBesideKernels) {
    const auto taken_by = [](const GroupPlan& plan) {
        FakeLibrary library;
        std::vector<int> taken(4);
        on_four_ranks(library, plan, [&](Communicator& world) {
            const auto again = world.group(world.ranks());
            taken[static_cast<std::size_t>(world.rank())] = again->multiprocessors_taken();
        });
        return taken;
    };
    const auto whole = [](std::span<const int> ranks) { return ranks.size() == 4; };
    // The communicator over all ranks, which connect() makes, is one for collectives.
    EXPECT_EQ(taken_by([](std::span<const int>) { return GroupUse{}; }), (std::vector{4, 4, 4, 4}));
    const GroupPlan chain = [&](std::span<const int> ranks) -> GroupUse {
        if (!whole(ranks)) return {};
        std::vector<Edge> edges;
        for (int rank = 0; rank < 3; ++rank) {
            edges.push_back({rank, rank + 1, Message::Kind::Activation, 0});
            edges.push_back({rank + 1, rank, Message::Kind::Gradient, 0});
        }
        return {edges, false};
    };
    EXPECT_EQ(taken_by(chain), (std::vector{8, 8, 8, 8})) << "a receive, a send and a collective";
}

TEST(NcclMemory, IsRegisteredWithCommunicatorsOfBeforeAndAfter) {
    FakeLibrary library;
    library.offers_memory = true;
    on_four_ranks(library, two_by_two, [](Communicator& world) {
        const int rank = world.rank(), tensor = rank / 2 * 2, data = rank % 2;
        const auto before = world.group(std::vector{tensor, tensor + 1});
        const auto memory = world.memory();
        ASSERT_NE(memory, nullptr);
        std::byte* const arena = memory->reserve(Bytes{4096});
        const auto after = world.group(std::vector{data, data + 2});
        memory->release(arena);
    });
    ASSERT_EQ(library.registered.size(), 4u);
    for (const auto& [rank, ranges] : library.registered) {
        std::vector<std::size_t> communicators;
        for (const auto& [communicator, range] : ranges) {
            communicators.push_back(communicator);
            EXPECT_EQ(range.size(), 4096u);
            EXPECT_EQ(range.data(), ranges.front().second.data());
        }
        EXPECT_EQ(communicators, (std::vector<std::size_t>{0, 1, 2})) << "each once";
    }
}

TEST(NcclMemory, IsTheDevicesOwnWhereTheLibraryHasNone) {
    FakeLibrary library;
    on_four_ranks(library, two_by_two,
                  [](Communicator& world) { EXPECT_EQ(world.memory(), nullptr); });
    EXPECT_TRUE(library.registered.empty());
}

}  // namespace
}  // namespace debubble::exec::nccl
