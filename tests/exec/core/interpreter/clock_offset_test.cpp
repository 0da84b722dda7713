#include "exec/core/interpreter/gather_records.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "exec/comm/transports.h"

namespace debubble::exec {
namespace {

using namespace std::chrono_literals;

TEST(ClockOffset, IsNothingForThoseWhoReadOneClock) {
    run_local(3, Transport::Buffered, [](Communicator& world) {
        const ClockOffset offset = measure_clock_offset(world, 60s, 7);
        EXPECT_EQ(offset.add, Duration{});
        EXPECT_EQ(offset.error, Duration{});
    });
}

/// Rank r's clock is r hours late.
TEST(ClockOffset, IsFoundWithinTheErrorThatItStates) {
    run_local(3, Transport::Own, [](Communicator& world) {
        const auto late = world.rank() * 1h;
        const ClockOffset offset =
            measure_clock_offset(world, 60s, world.rank() / 2, [&] { return Clock::now() - late; });
        if (world.rank() < 2) {
            EXPECT_EQ(offset.add, Duration{}) << "rank 1 reads the clock of rank 0";
        } else {
            EXPECT_LE(std::abs((offset.add - late).count()), offset.error.count());
            EXPECT_LT(offset.error, 1h);
        }
    });
}

TEST(ClockOffset, ProcessesOfOneSystemReadOneClock) {
    EXPECT_EQ(clock_identity(), clock_identity());
}

}  // namespace
}  // namespace debubble::exec
