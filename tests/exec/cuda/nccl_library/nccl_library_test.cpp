#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <gmock/gmock.h>

#include "exec/comm/transports.h"
#include "exec/core/device.h"
#include "exec/cuda/nccl/setup.h"
#include "tests/exec/cuda/nccl_library/fake_nccl_library.h"
#include "tests/exec/support/comm/comm_checks.h"
#include "tests/exec/support/fake_lanes.h"

/// What NCCL is asked for by the module that the program loads; the library is a fake.
namespace debubble::exec::nccl {
namespace {

using namespace std::chrono_literals;
using Made = FakeNcclLibrary::Made;

void* no_stream(DeviceLanes& /*lanes*/, DeviceLane /*lane*/) {
    return nullptr;
}

class NcclLibraryTest : public testing::Test {
protected:
    NcclLibraryTest() {
        fake_nccl_library.forget();
        for (const char* name : kVariables) ::unsetenv(name);
    }
    ~NcclLibraryTest() override {
        for (const char* name : kVariables) ::unsetenv(name);
    }

    /// Runs the body on each of two ranks, with the communicator that the module makes of all.
    void on_two_ranks(const GroupPlan& plan, const std::function<void(Communicator&)>& body) {
        // Ranks of NCCL are processes: the first of these threads sets the variables for both.
        connect(1, plan, [](Communicator&) {});
        connect(2, plan, body);
    }
    void connect(int ranks, const GroupPlan& plan, const std::function<void(Communicator&)>& body) {
        run_local(ranks, Transport::Own, [&](Communicator& host) {
            FakeLanes lanes;
            nccl::Setup setup{host, lanes, no_stream, plan, 60s};
            setup.some_share_a_gpu = some_share_a_gpu_;
            setup.one_host = true;
            const std::unique_ptr<Communicator> world(debubble_nccl_connect(setup));
            body(*world);
            host.barrier("BARRIER")->wait(soon());
        });
    }
    static std::vector<Made> made() {
        std::vector<Made> all;
        for (const auto& [communicator, one] : fake_nccl_library.made) all.push_back(one);
        return all;
    }

    static constexpr std::array kVariables = {"NCCL_LAUNCH_ORDER_IMPLICIT",
                                              "NCCL_RUNTIME_CONNECT",
                                              "NCCL_HOSTID",
                                              "NCCL_SOCKET_IFNAME",
                                              "NCCL_NET",
                                              "NCCL_IB_DISABLE",
                                              "NCCL_MNNVL_ENABLE",
                                              "NCCL_NVLS_ENABLE",
                                              "NCCL_MAX_NCHANNELS"};
    bool some_share_a_gpu_ = false;
};

GroupUse collectives(std::span<const int> /*ranks*/) {
    return {};
}
GroupUse standing(std::span<const int> /*ranks*/) {
    return {{}, true, true};
}
GroupUse edges_alone(std::span<const int> /*ranks*/) {
    return {{{0, 1, Message::Kind::Activation, 0}, {1, 0, Message::Kind::Gradient, 0}}, false};
}
void make_the_group(Communicator& world) {
    const auto again = world.group(world.ranks());
}

TEST_F(NcclLibraryTest, CommunicatorsBesideKernelsTakeFewMultiprocessorsOthersWhatNcclLikes) {
    const auto most_of = [&](const GroupPlan& plan) {
        fake_nccl_library.forget();
        on_two_ranks(plan, make_the_group);
        std::vector<int> most;
        for (const Made& one : made()) {
            EXPECT_EQ(one.ranks, 2);
            EXPECT_EQ(one.blocking, 0);
            most.push_back(one.most_ctas);
        }
        return most;
    };
    // The communicator of all ranks, which is one beside kernels, and then what the plan says.
    using testing::UnorderedElementsAre;
    EXPECT_THAT(most_of(collectives), UnorderedElementsAre(4, 4, 4, 4));
    EXPECT_THAT(most_of(standing),
                UnorderedElementsAre(4, 4, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT));
    EXPECT_THAT(most_of(edges_alone), UnorderedElementsAre(4, 4, 2, 2, 2, 2));
}

TEST_F(NcclLibraryTest, StartsKernelsInTheOrderInWhichTheyWereAskedFor) {
    on_two_ranks(collectives, make_the_group);
    EXPECT_EQ(fake_nccl_library.environment["NCCL_LAUNCH_ORDER_IMPLICIT"], "1");
    EXPECT_EQ(fake_nccl_library.environment["NCCL_RUNTIME_CONNECT"], "0");
    EXPECT_FALSE(fake_nccl_library.environment.contains("NCCL_HOSTID"));
    EXPECT_FALSE(fake_nccl_library.environment.contains("NCCL_NVLS_ENABLE"));
}

TEST_F(NcclLibraryTest, RanksThatShareAGpuAreHostsOfTheirOwnUnlessThePersonSaysOtherwise) {
    some_share_a_gpu_ = true;
    on_two_ranks(collectives, make_the_group);
    EXPECT_THAT(fake_nccl_library.environment["NCCL_HOSTID"],
                testing::EndsWith("-" + std::to_string(::getpid())));
    EXPECT_EQ(fake_nccl_library.environment["NCCL_NVLS_ENABLE"], "0");
    ::setenv("NCCL_HOSTID", "mine", 1);
    on_two_ranks(collectives, make_the_group);
    EXPECT_EQ(fake_nccl_library.environment["NCCL_HOSTID"], "mine");
}

TEST_F(NcclLibraryTest, TheArenaIsItsOwnMemoryAndRegisteredOnceWithEachCommunicator) {
    on_two_ranks(collectives, [](Communicator& world) {
        const std::shared_ptr<DeviceMemory> memory = world.memory();
        ASSERT_NE(memory, nullptr);
        std::byte* const arena = memory->reserve(Bytes{1 << 20});
        make_the_group(world);
        memory->release(arena);
    });
    EXPECT_EQ(fake_nccl_library.allocated, (std::vector<std::size_t>{1 << 20, 1 << 20}));
    EXPECT_EQ(fake_nccl_library.freed, 2);
    ASSERT_EQ(made().size(), 4u);
    for (const Made& one : made()) {
        EXPECT_EQ(one.registered, 1);
        EXPECT_EQ(one.deregistered, 1) << "before it is finalized";
        EXPECT_TRUE(one.finalized && one.destroyed);
    }
}

TEST_F(NcclLibraryTest, MemoryThatItDoesNotRegisterIsMovedAsAnyOther) {
    fake_nccl_library.of_registering = ncclInvalidUsage;
    on_two_ranks(collectives, [](Communicator& world) {
        const std::shared_ptr<DeviceMemory> memory = world.memory();
        std::byte* const arena = memory->reserve(Bytes{4096});
        world.all_reduce({{arena, 64}, DataType::Fp32}, Reduction::Sum, "SUM")->wait(soon());
        memory->release(arena);
    });
    for (const Made& one : made()) EXPECT_EQ(one.deregistered, 0);
}

TEST_F(NcclLibraryTest, ACallThatIsStillBeingDoneIsAskedForUntilItIs) {
    fake_nccl_library.calls_in_progress = 20;
    on_two_ranks(collectives, [](Communicator& world) {
        std::array<float, 4> values{};
        world.all_reduce(buffer_of(std::span<float>(values)), Reduction::Sum, "SUM")->wait(soon());
    });
    for (const Made& one : made()) EXPECT_GE(one.asked, 20);
}

TEST_F(NcclLibraryTest, TellsItsVersionAndTheDrivers) {
    fake_nccl_library.version = 22602;
    fake_nccl_library.driver = 12040;
    Versions found;
    debubble_nccl_versions(found);
    EXPECT_EQ(found.library, 22602);
    EXPECT_EQ(found.driver, 12040);
}

}  // namespace
}  // namespace debubble::exec::nccl
