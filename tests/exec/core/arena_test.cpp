#include "exec/core/arena.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace debubble::exec {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

ArenaTensor floats(Arena& arena, std::int64_t count,
                   MemoryClass held_as = MemoryClass::Activations) {
    return arena.allocate({count}, DataType::Fp32, held_as, "floats");
}

TEST(Arena, TensorsBeginOnCacheLinesAndDoNotTouch) {
    Arena arena({1 << 20});
    const ArenaTensor a = floats(arena, 3), b = floats(arena, 17), none = floats(arena, 0);
    for (const ArenaTensor* tensor : {&a, &b, &none})
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->view().data) % 64, 0u);
    EXPECT_GE(b.view().data - a.view().data, a.view().bytes());
    EXPECT_NE(none.view().data, nullptr);
}

TEST(Arena, CountsBytesByClassAndGetsThemBack) {
    Arena arena({1 << 20});
    {
        const ArenaTensor parameters = floats(arena, 10, MemoryClass::Parameters);
        ArenaTensor moved = floats(arena, 20);
        const ArenaTensor activations = std::move(moved);
        EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move): that is the promise
        EXPECT_EQ(arena.held()[static_cast<std::size_t>(MemoryClass::Parameters)].count, 40);
        EXPECT_EQ(arena.held()[static_cast<std::size_t>(MemoryClass::Activations)].count, 80);
    }
    EXPECT_EQ(total(arena.held()).count, 0);
}

TEST(Arena, ReusesAndMergesWhatWasFreed) {
    Arena arena({64 * 4});
    ArenaTensor a = floats(arena, 16), b = floats(arena, 16), c = floats(arena, 16),
                d = floats(arena, 16);
    a = {};
    c = {};
    b = {};  // between two gaps: one gap of three lines
    const ArenaTensor whole = floats(arena, 48);
    EXPECT_TRUE(whole);
    EXPECT_EQ(arena.extent().count, 64 * 4);
}

TEST(Arena, TakesTheSmallestGapThatFits) {
    Arena arena({1 << 20});
    ArenaTensor wide = floats(arena, 64), wall = floats(arena, 1), narrow = floats(arena, 16),
                end = floats(arena, 1);
    const std::byte* const expected = narrow.view().data;
    wide = {};
    narrow = {};
    EXPECT_EQ(floats(arena, 10).view().data, expected);
}

TEST(Arena, NamesThePeakTheActionAndTheTensor) {
    Arena arena({1 << 20});
    arena.note("0F1");
    {
        const ArenaTensor saved =
            arena.allocate({8}, DataType::Bf16, MemoryClass::Activations, "x");
        const ArenaTensor scratch =
            arena.allocate({4}, DataType::Fp32, MemoryClass::Workspace, "scores");
    }
    arena.note("0B1");
    const ArenaTensor less = floats(arena, 1);
    EXPECT_EQ(arena.peak().during, "0F1");
    EXPECT_EQ(arena.peak().op, "scores");
    EXPECT_EQ(total(arena.peak().held).count, 32);
    arena.forget_peak();
    EXPECT_EQ(total(arena.peak().held).count, 4);
}

TEST(Arena, KnowsTheHighestOfEachClassSinceTheActionBegan) {
    Arena arena({1 << 20});
    const ArenaTensor saved = floats(arena, 1);
    arena.note("0B0");
    floats(arena, 4, MemoryClass::Workspace);
    floats(arena, 2, MemoryClass::Workspace);
    const auto workspace = static_cast<std::size_t>(MemoryClass::Workspace);
    const auto activations = static_cast<std::size_t>(MemoryClass::Activations);
    EXPECT_EQ(arena.highest()[workspace].count, 16);
    EXPECT_EQ(arena.highest()[activations].count, 4);
    arena.note("0B1");
    EXPECT_EQ(arena.highest()[workspace].count, 0);
}

TEST(Arena, SaysWithNumbersThatItIsFull) {
    Arena arena({256});
    const ArenaTensor held = floats(arena, 32);
    arena.note("1F2");
    try {
        arena.allocate({100}, DataType::Fp32, MemoryClass::Workspace, "scores");
        FAIL() << "it fits";
    } catch (const WorldError& error) {
        EXPECT_STREQ(error.what(),
                     "the arena is full: scores (1F2) needs 400 bytes, 128 of 256 are in use and "
                     "the largest gap has 128");
    }
}

/// Against a plain list of what is alive: nothing overlaps, nothing is lost.
TEST(Arena, WaitsForWhatIsLentAsLongAsSomeComesBack) {
    Arena arena(Bytes{8 * 64});
    arena.set_patience(200ms);
    const auto lent = std::chrono::steady_clock::now();
    for (int i = 0; i < 8; ++i)
        arena.lend(
            arena.allocate({16}, DataType::Fp32, MemoryClass::Activations, "x"),
            [back = lent + 60ms * (i + 1)] { return std::chrono::steady_clock::now() >= back; });
    EXPECT_NO_THROW(arena.allocate({8 * 16}, DataType::Fp32, MemoryClass::Activations, "all"));
    arena.lend(arena.allocate({8 * 16}, DataType::Fp32, MemoryClass::Activations, "all"),
               [] { return false; });
    EXPECT_THROW(arena.allocate({16}, DataType::Fp32, MemoryClass::Activations, "x"), WorldError);
}

TEST(Arena, NeverOverlapsInARandomLife) {
    Arena arena({1 << 16});
    std::mt19937 random(7);
    std::vector<ArenaTensor> alive;
    for (int step = 0; step < 20'000; ++step) {
        if (alive.empty() || random() % 2 == 0) {
            const auto count = static_cast<std::int64_t>(random() % 300);
            try {
                alive.push_back(floats(arena, count));
            } catch (const WorldError&) {
                alive.erase(alive.begin(), alive.begin() + static_cast<int>(alive.size() / 2));
                continue;
            }
            const TensorView& fresh = alive.back().view();
            const bool apart = std::all_of(alive.begin(), alive.end() - 1, [&](const auto& other) {
                const TensorView& view = other.view();
                return view.data + view.bytes() <= fresh.data ||
                       fresh.data + fresh.bytes() <= view.data;
            });
            ASSERT_TRUE(apart) << "at step " << step;
        } else {
            std::swap(alive[random() % alive.size()], alive.back());
            alive.pop_back();
        }
    }
    alive.clear();
    const ArenaTensor everything = floats(arena, (1 << 16) / 4);
    EXPECT_TRUE(everything) << "all gaps have merged";
}

/// The addresses of this process, in bytes.
std::int64_t addresses() {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * ::sysconf(_SC_PAGESIZE);
}

TEST(Arena, ReservesWhatIsPlannedAndMoreOnceThatIsFull) {
    Arena arena({std::int64_t{1} << 40}, nullptr, Bytes{1 << 20});
    EXPECT_EQ(arena.reserved().count, 1 << 20);
    std::vector<ArenaTensor> tensors;
    for (int i = 0; i < 16; ++i) tensors.push_back(floats(arena, 1 << 14));
    EXPECT_EQ(arena.reserved().count, 1 << 20) << "sixteen of 64 KiB";
    tensors.push_back(floats(arena, 1 << 14));
    EXPECT_GT(arena.reserved().count, 1 << 20);
    EXPECT_LE(arena.reserved().count, 32 << 20);
    tensors.push_back(floats(arena, 64 << 20));  // more than is usual at a time
    std::fill_n(tensors.back().view().as<float>().data, 64 << 20, 1.0f);
    EXPECT_EQ(total(arena.held()).count, (17 << 16) + (256 << 20));
    const std::byte* const large = tensors.back().view().data;
    tensors.clear();
    EXPECT_EQ(floats(arena, 64 << 20).view().data, large) << "it is used again";
}

TEST(Arena, OfSeveralRangesIsFullAtItsCapacity) {
    Arena arena({1 << 20}, nullptr, Bytes{1 << 16});
    const ArenaTensor a = floats(arena, 1 << 14), b = floats(arena, 200'000);
    EXPECT_THROW(floats(arena, 200'000), WorldError);
}

/// In a process of its own, whose addresses are few.
TEST(Arena, WorksWhereThereAreFewMoreAddressesThanItsPlan) {
    constexpr std::int64_t kPlan = std::int64_t{256} << 20;
    const auto run = [] {
        const std::int64_t limit = addresses() + kPlan + (32 << 20);
        const rlimit few{static_cast<rlim_t>(limit), static_cast<rlim_t>(limit)};
        if (::setrlimit(RLIMIT_AS, &few) != 0) std::exit(2);
        try {
            Arena arena({std::int64_t{1} << 40}, nullptr, Bytes{kPlan});
            const ArenaTensor all = floats(arena, kPlan / 4);
            all.view().as<float>()[0] = all.view().as<float>()[kPlan / 4 - 1] = 1;
            const ArenaTensor little_more = floats(arena, 1 << 20);
            try {
                floats(arena, 64 << 20);
            } catch (const WorldError&) {
                std::exit(0);  // and what is too much is said
            }
            std::exit(3);
        } catch (const WorldError&) {
            std::exit(4);
        }
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace debubble::exec
