#include "base/parallel.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace debubble::sim {
namespace {

TEST(RunParallel, CallsEveryIndexOnceOnAnyNumberOfThreads) {
    for (const int jobs : {0, 1, 2, 7, 100}) {
        for (const std::size_t count : {0u, 1u, 2u, 50u, 1000u}) {
            std::vector<std::atomic<int>> calls(count);
            run_parallel(count, jobs, nullptr, [&](std::size_t i) { ++calls[i]; });
            for (const auto& times : calls) EXPECT_EQ(times, 1);
        }
    }
}

TEST(RunParallel, StopsHandingOutWorkWhenToldTo) {
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> calls = 0;
    run_parallel(100'000, 3, &stop, [&](std::size_t) {
        if (++calls == 10) stop = true;
    });
    EXPECT_GE(calls, 10u);
    EXPECT_LE(calls, 10u + 3u);
}

TEST(RunParallel, ThrowsWhatACallThrewAndStopsTheOthers) {
    for (const int jobs : {1, 4}) {
        std::atomic<std::size_t> calls = 0;
        const auto fails_at_five = [&](std::size_t i) {
            ++calls;
            if (i == 5) throw std::runtime_error("five");
        };
        EXPECT_THROW(run_parallel(1'000'000, jobs, nullptr, fails_at_five), std::runtime_error);
        EXPECT_LT(calls, 1'000'000u);
    }
}

}  // namespace
}  // namespace debubble::sim
