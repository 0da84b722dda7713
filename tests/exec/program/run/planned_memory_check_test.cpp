#include "exec/program/run/prepare_run.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace debubble::exec {
namespace {

constexpr Bytes kGibibyte{std::int64_t{1} << 30};

std::string refusal(const std::vector<Bytes>& planned, int replicas, Bytes available) {
    scenarios::Parallel parallel;
    parallel.pipeline = static_cast<int>(planned.size());
    parallel.data = replicas;
    if (planned.empty()) parallel.pipeline = 1;
    try {
        check_memory(planned, parallel, available);
        return "";
    } catch (const WorldError& error) {
        return error.what();
    }
}

TEST(PlannedMemory, OfAllRanksIsComparedWithWhatIsLeft) {
    const std::vector<Bytes> planned{3 * kGibibyte, kGibibyte};
    EXPECT_EQ(refusal(planned, 2, 8 * kGibibyte), "");
    EXPECT_EQ(refusal(planned, 2, 7 * kGibibyte),
              "by the prediction the 4 ranks need 8 GiB, 3 GiB on the fullest; this machine has 7 "
              "GiB left");
    EXPECT_EQ(refusal({2 * kGibibyte}, 1, kGibibyte),
              "by the prediction the rank needs 2 GiB; this machine has 1 GiB left");
}

TEST(PlannedMemory, ThatIsNotKnownRefusesNothing) {
    EXPECT_EQ(refusal({}, 4, Bytes{}), "");
}

TEST(AvailableMemory, IsSomeAndNoMoreThanThereIs) {
    EXPECT_GT(available_memory(), Bytes{1 << 20});
    EXPECT_LT(available_memory(), 1024 * 1024 * kGibibyte);
}

}  // namespace
}  // namespace debubble::exec
