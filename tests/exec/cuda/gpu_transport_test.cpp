#include "exec/cuda/gpu_placement.h"

#include <gtest/gtest.h>

#include "tests/exec/support/comm/comm_checks.h"

namespace debubble::exec {
namespace {

const std::string kDetour = "tensors between GPUs are staged through the host's memory";

TEST(GpuTransport, RanksOnSeveralGpusAreProcessesOverNccl) {
    for (const int gpus : {2, 4, 8})
        for (int ranks = 2; ranks <= gpus; ++ranks)
            EXPECT_EQ(transport_between({ranks, gpus, {}}, "auto"),
                      (GpuTransport{true, std::nullopt}))
                << ranks << " on " << gpus;
}

TEST(GpuTransport, RanksOnOneGpuAreThreadsOfOneProcess) {
    for (const char* comm : {"auto", "local"}) {
        EXPECT_EQ(transport_between({8, 1, {}}, comm), GpuTransport{});
        EXPECT_EQ(transport_between({1, 8, {}}, comm), GpuTransport{});
        EXPECT_EQ(transport_between({1, 8, "no NCCL"}, comm), GpuTransport{});
    }
}

TEST(GpuTransport, TheDetourThroughTheHostIsNeverSilent) {
    const GpuTransport without = transport_between({4, 4, "this build has no NCCL"}, "auto");
    EXPECT_EQ(without, (GpuTransport{false, "this build has no NCCL; " + kDetour}));
    const GpuTransport crowded = transport_between({8, 2, {}}, "auto");
    EXPECT_FALSE(crowded.process_per_rank);
    EXPECT_EQ(crowded.note,
              "8 ranks share 2 GPUs, and NCCL needs one GPU for each rank; " + kDetour);
    const GpuTransport asked = transport_between({2, 8, {}}, "local");
    EXPECT_FALSE(asked.process_per_rank);
    check_has(asked.note.value(), "with --comm local the 2 ranks are threads");
    check_has(asked.note.value(), kDetour);
    for (const char* comm : {"mpi", "tcp"}) {
        check_has(note_of_staging(comm, true), kDetour);
        EXPECT_EQ(note_of_staging(comm, false), "");
    }
    for (const char* comm : {"auto", "nccl"}) EXPECT_EQ(note_of_staging(comm, true), "");
}

TEST(GpuTransport, OfACalibrationIsSaidWhereSeveralGpusExchange) {
    EXPECT_EQ(note_of_calibration(1, 8), "");
    EXPECT_EQ(note_of_calibration(8, 1), "");
    const std::string note = note_of_calibration(2, 8);
    check_has(note, "the 2 ranks are threads");
    check_has(note, kDetour);
    check_has(note, "--nccl-tests");
}

}  // namespace
}  // namespace debubble::exec
