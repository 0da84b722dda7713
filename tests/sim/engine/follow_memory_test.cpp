#include "sim/engine/follow_memory.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "sim/cost/abstract_cost_model.h"
#include "sim/engine/simulate.h"

namespace debubble::sim {
namespace {

using std::chrono::nanoseconds;

/// A forward leaves 10 bytes until its backward; a message has 7.
class TenAndSeven final : public MemoryModel {
public:
    PassMemory compute(const Compute& c) const override {
        PassMemory memory;
        if (c.pass != Pass::Forward) {
            memory.held_after = Bytes{-10};
            return memory;
        }
        memory.held_after = memory.peak_above = Bytes{10};
        memory.at_peak[static_cast<std::size_t>(MemoryClass::Activations)] = Bytes{10};
        return memory;
    }
    Bytes message(const Message&) const override { return Bytes{7}; }
};

/// No transfer ends before the last forward: the order of time is far from that of the list.
TEST(MemoryOverTime, HoldsEveryBufferOfALinkThatLagsBehind) {
    const int micro_batches = 256;
    const Program program = lower(generate("gpipe", {2, 1, micro_batches, 1}), {});
    PipelineCosts costs;
    costs.stages.assign(2, {nanoseconds{1}, nanoseconds{2}, nanoseconds{0}});
    costs.link = nanoseconds{10'000};
    const Simulation played = simulate(program, AbstractCostModel(costs, 1), TenAndSeven{});
    ASSERT_EQ(played.peaks.size(), 2u);
    EXPECT_EQ(total(played.peaks[0].held), Bytes{micro_batches * (10 + 7)});
    EXPECT_EQ(played.peaks[0].at, Instant{nanoseconds{micro_batches}});
    EXPECT_TRUE(std::ranges::is_sorted(played.trace.memory, [](const auto& a, const auto& b) {
        return std::pair(a.rank, a.at) < std::pair(b.rank, b.at);
    }));
    const auto last = std::ranges::find(played.trace.memory.rbegin(), played.trace.memory.rend(),
                                        Rank{0}, &MemorySample::rank);
    ASSERT_NE(last, played.trace.memory.rend());
    EXPECT_EQ(last->held, Bytes{}) << "everything is given back";
}

}  // namespace
}  // namespace debubble::sim
