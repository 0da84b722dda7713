#include "models/memory/allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace debubble::models {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(CachingAllocator, RoundsAndReservesAsPyTorchDoes) {
    struct Row {
        std::int64_t asked, allocated, reserved;
    };
    // one allocation into an empty cache; a large block is split only above 1 MiB of rest
    for (const Row& row : std::initializer_list<Row>{
             {0, 512, 2 * kMiB},
             {1, 512, 2 * kMiB},
             {513, 1024, 2 * kMiB},
             {kMiB, kMiB, 2 * kMiB},
             {kMiB + 1, kMiB + 512, 20 * kMiB},
             {10 * kMiB - 512, 10 * kMiB - 512, 20 * kMiB},
             {10 * kMiB, 10 * kMiB, 10 * kMiB},
             {11 * kMiB, 12 * kMiB, 12 * kMiB},
             {11 * kMiB - 512, 11 * kMiB - 512, 12 * kMiB},
         }) {
        CachingAllocator allocator;
        const int handle = allocator.allocate(Bytes{row.asked});
        EXPECT_EQ(allocator.usage().allocated, Bytes{row.allocated}) << row.asked;
        EXPECT_EQ(allocator.usage().reserved, Bytes{row.reserved}) << row.asked;
        allocator.free(handle);
        EXPECT_EQ(allocator.usage().allocated, Bytes{});
        EXPECT_EQ(allocator.usage().reserved, Bytes{row.reserved});
    }
}

TEST(CachingAllocator, GivesTheSmallestBlockThatFitsAndMergesNeighbours) {
    CachingAllocator allocator;
    const int wide = allocator.allocate(Bytes{40 * kMiB});
    const int guard = allocator.allocate(Bytes{30 * kMiB});
    allocator.free(wide);
    allocator.free(guard);
    const int taken = allocator.allocate(Bytes{28 * kMiB});  // out of the 30, not of the 40
    const int whole = allocator.allocate(Bytes{40 * kMiB});
    EXPECT_EQ(allocator.usage().reserved, Bytes{70 * kMiB});
    allocator.free(taken);  // merges with the 2 MiB that were cut off
    allocator.free(whole);
    allocator.allocate(Bytes{30 * kMiB});
    allocator.allocate(Bytes{40 * kMiB});
    EXPECT_EQ(allocator.usage().reserved, Bytes{70 * kMiB});
}

using Segments = CachingAllocator::Segments;

TEST(CachingAllocator, GrowsItsSegmentByPagesBehindTheLastBlock) {
    CachingAllocator allocator(Segments::Expandable);
    const int first = allocator.allocate(Bytes{30 * kMiB});
    EXPECT_EQ(allocator.usage().reserved, Bytes{40 * kMiB});
    const int second = allocator.allocate(Bytes{10 * kMiB});  // what is left of the pages
    EXPECT_EQ(allocator.usage().reserved, Bytes{40 * kMiB});
    allocator.free(second);
    allocator.allocate(Bytes{25 * kMiB});  // the last 10 MiB and a page
    EXPECT_EQ(allocator.usage().reserved, Bytes{60 * kMiB});
    allocator.free(first);
    allocator.allocate(Bytes{4 * kMiB});  // the last 5 MiB can grow: out of the 30
    allocator.allocate(Bytes{5 * kMiB});
    allocator.allocate(Bytes{25 * kMiB});  // the hole of 21 is too small: a page behind the last 5
    EXPECT_EQ(allocator.usage().reserved, Bytes{80 * kMiB});
    allocator.allocate(Bytes{1});  // of the other pool, whose pages have 2 MiB
    EXPECT_EQ(allocator.usage().reserved, Bytes{82 * kMiB});
}

/// Ten tensors that are freed make room for one that is as large as all of them.
TEST(CachingAllocator, ReservesLessWhereSegmentsGrow) {
    const auto reserved = [](Segments segments) {
        CachingAllocator allocator(segments);
        std::vector<int> parts;
        for (int i = 0; i < 10; ++i) parts.push_back(allocator.allocate(Bytes{20 * kMiB}));
        for (const int part : parts) allocator.free(part);
        allocator.allocate(Bytes{200 * kMiB});
        return allocator.usage().reserved;
    };
    EXPECT_EQ(reserved(Segments::Fixed), Bytes{400 * kMiB});
    EXPECT_EQ(reserved(Segments::Expandable), Bytes{200 * kMiB});
}

/// Any order of requests: the books balance, and nothing is handed out twice.
TEST(CachingAllocator, KeepsItsBooksUnderRandomUse) {
    std::mt19937 random(7);
    for (int round = 0; round < 40; ++round) {
        CachingAllocator caching(round % 2 == 0 ? Segments::Fixed : Segments::Expandable);
        ExactAllocator exact;
        std::vector<std::pair<int, int>> live;
        for (int i = 0; i < 2000; ++i) {
            if (!live.empty() && random() % 2 == 0) {
                std::swap(live[random() % live.size()], live.back());
                caching.free(live.back().first);
                exact.free(live.back().second);
                live.pop_back();
            } else {
                const Bytes size{static_cast<std::int64_t>(random() % (1u << (9 + random() % 17)))};
                live.push_back({caching.allocate(size), exact.allocate(size)});
            }
            const MemoryUsage& usage = caching.usage();
            ASSERT_GE(usage.allocated, exact.usage().allocated);
            ASSERT_LE(usage.allocated.count,
                      exact.usage().allocated.count + (kMiB + 512) * static_cast<int>(live.size()));
            ASSERT_GE(usage.reserved, usage.allocated);
        }
        std::map<int, int> handles;
        for (const auto& [handle, other] : live) EXPECT_EQ(++handles[handle], 1);
        for (const auto& [handle, other] : live) caching.free(handle);
        EXPECT_EQ(caching.usage().allocated, Bytes{});
        // all free blocks merged again: the next request of any segment's size is served
        const Bytes reserved = caching.usage().reserved;
        caching.allocate(Bytes{512});
        EXPECT_EQ(caching.usage().reserved, reserved);
    }
}

TEST(ExactAllocator, AddsAndRemembersThePeak) {
    ExactAllocator allocator;
    const int a = allocator.allocate(Bytes{100});
    const int b = allocator.allocate(Bytes{50});
    allocator.free(a);
    allocator.allocate(Bytes{20});
    EXPECT_EQ(allocator.usage(), (MemoryUsage{Bytes{70}, Bytes{70}, Bytes{150}, Bytes{150}}));
    allocator.free(b);
}

}  // namespace
}  // namespace debubble::models
