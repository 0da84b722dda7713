#include "exec/cuda/nccl/setup.h"

#include <gtest/gtest.h>

#include "exec/cuda/nccl/job.h"
#include "tests/exec/support/comm/comm_checks.h"

namespace debubble::exec::nccl {
namespace {

TEST(NcclVersion, IsWrittenAsNcclCountsIt) {
    EXPECT_EQ(version_text(22809), "2.28.9");
    EXPECT_EQ(version_text(22602), "2.26.2");
    EXPECT_EQ(version_text(2804), "2.8.4");
}

TEST(NcclVersion, OneWithoutAnOrderOfLaunchesIsRefused) {
    for (const int old : {2708, 21805, 22505, 22601})
        check_has(too_old({old, 13000}).value_or(""),
                  "NCCL " + version_text(old) + " does not start kernels in launch order");
    for (const int fit : {22602, 22705, 22809, 23004})
        EXPECT_EQ(too_old({fit, 13000}), std::nullopt);
}

TEST(NcclVersion, ADriverUnderWhichKernelsRunOneByOneIsRefused) {
    check_has(too_old({22809, 12020}).value_or(""), "the driver is for CUDA 12.2");
    check_has(too_old({22809, 0}).value_or(""), "the driver is for CUDA 0.0");
    EXPECT_EQ(too_old({22809, 12030}), std::nullopt);
}

TEST(NcclPolling, AsksAtOnceWhileACallMayBeDoneAnyMoment) {
    const Polling::Clock::time_point began{};
    const Polling polling(began);
    for (const int us : {0, 1, 50, 199})
        EXPECT_EQ(polling.pause(began + std::chrono::microseconds(us)).count(), 0) << us;
}

TEST(NcclPolling, LaterItIsLateByATenthAtMost) {
    const Polling::Clock::time_point began{};
    const Polling polling(began);
    for (const int us : {200, 1000, 5000, 9999}) {
        const Polling::Clock::duration waited = std::chrono::microseconds(us);
        EXPECT_GT(polling.pause(began + waited).count(), 0);
        EXPECT_LE(polling.pause(began + waited), waited / 10);
    }
    EXPECT_EQ(polling.pause(began + std::chrono::seconds(10)), Polling::kLongest);
}

}  // namespace
}  // namespace debubble::exec::nccl
