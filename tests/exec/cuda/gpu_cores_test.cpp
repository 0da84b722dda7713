#include "exec/cuda/gpu_placement.h"

#include <fstream>
#include <thread>

#include <sched.h>

#include <gtest/gtest.h>

#include "tests/exec/support/scratch_folder.h"

namespace debubble::exec {
namespace {

using Cores = std::vector<int>;

TEST(GpuCores, AreReadAsLinuxWritesThem) {
    EXPECT_EQ(cores_of_list("0-3,8,10-11"), (Cores{0, 1, 2, 3, 8, 10, 11}));
    EXPECT_EQ(cores_of_list("7"), Cores{7});
    EXPECT_EQ(cores_of_list("8-9,0-1"), (Cores{0, 1, 8, 9}));
}

TEST(GpuCores, AreNoneWhereTheTextIsNoList) {
    for (const char* text : {"", "a", "3-", "-3", "3-1", "1,", "1;2", "0-99999999", "1 2", "0-3x"})
        EXPECT_EQ(cores_of_list(text), Cores{}) << text;
}

/// Writes the cores beside a GPU as Linux does.
void put(const ScratchFolder& sys, const std::string& bus, const std::string& list) {
    const std::filesystem::path folder = sys.path() / "bus/pci/devices" / bus;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "local_cpulist") << list << '\n';
}

TEST(GpuCores, AreThoseOfTheBusThatTheGpuHangsOn) {
    const ScratchFolder sys;
    put(sys, "0000:18:00.0", "0-1");
    put(sys, "0000:2a:00.0", "2-3");
    EXPECT_EQ(cores_near("0000:18:00.0", sys.path()), (Cores{0, 1}));
    EXPECT_EQ(cores_near("0000:2A:00.0", sys.path()), (Cores{2, 3})) << "as CUDA writes it";
    EXPECT_EQ(cores_near("0000:3B:00.0", sys.path()), Cores{});
}

TEST(GpuCores, StayAmongThoseThatTheLauncherGave) {
    EXPECT_EQ(cores_to_use({0, 1, 2, 3}, {2, 3, 4, 5}), (Cores{2, 3}));
    EXPECT_EQ(cores_to_use({0, 1}, {2, 3}), Cores{}) << "the launcher gave others";
    EXPECT_EQ(cores_to_use({0, 1}, {0, 1}), Cores{}) << "it is bound already";
    EXPECT_EQ(cores_to_use({}, {0, 1}), Cores{});
}

/// The cores on which the calling thread may run.
Cores cores_of_this_thread() {
    cpu_set_t set;
    EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    Cores cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) cores.push_back(core);
    return cores;
}

TEST(GpuCores, ARanksThreadAndThoseThatItStartsStayThere) {
    const Cores before = cores_of_this_thread();
    if (before.size() < 2) GTEST_SKIP() << "there is one core";
    const ScratchFolder sys;
    put(sys, "0000:18:00.0", std::to_string(before.back()));
    Cores rank, started;
    std::thread([&] {
        stay_near("0000:3B:00.0", sys.path());
        EXPECT_EQ(cores_of_this_thread(), before) << "Linux tells nothing of that GPU";
        stay_near("0000:18:00.0", sys.path());
        rank = cores_of_this_thread();
        std::thread([&] { started = cores_of_this_thread(); }).join();
    }).join();
    EXPECT_EQ(rank, Cores{before.back()});
    EXPECT_EQ(started, rank);
    EXPECT_EQ(cores_of_this_thread(), before)
        << "other ranks of the process have GPUs of their own";
}

}  // namespace
}  // namespace debubble::exec
