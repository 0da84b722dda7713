#include "trace/picture/document/memory_series.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

MemorySample sample(std::int64_t ns, std::int64_t bytes,
                    MemoryClass held_as = MemoryClass::Activations) {
    return {at(ns), Bytes{bytes}, Rank{0}, held_as};
}

TEST(MemorySeries, AddsUpTheClasses) {
    const std::vector<MemorySample> samples{sample(0, 100, MemoryClass::Parameters), sample(0, 10),
                                            sample(5, 30), sample(8, 0)};
    const MemorySeries series(samples);
    EXPECT_EQ(series.held_at(at(-1)), Bytes{0});
    EXPECT_EQ(series.held_at(at(0)), Bytes{110});
    EXPECT_EQ(series.held_at(at(7)), Bytes{130});
    EXPECT_EQ(series.held_at(at(100)), Bytes{100});
    EXPECT_EQ(series.greatest(), Bytes{130});
    EXPECT_EQ(series.over({at(0), at(9)}).lasting, Bytes{100});
}

TEST(MemorySeries, KnowsLeastAndGreatestOfAnyWindow) {
    std::mt19937 random(7);
    std::uniform_int_distribution<std::int64_t> size(0, 1'000'000);
    std::vector<MemorySample> samples;
    for (int i = 0; i < 1500; ++i) samples.push_back(sample(10 * i, size(random)));
    const MemorySeries series(samples);
    std::uniform_int_distribution<std::int64_t> time(-50, 15'100);
    for (int round = 0; round < 3000; ++round) {
        const std::int64_t a = time(random);
        const std::int64_t b = a + 1 + std::abs(time(random)) / (1 + round % 50);
        Bytes least = series.held_at(at(a));
        Bytes greatest = least;
        for (const MemorySample& s : samples)
            if (s.at > at(a) && s.at < at(b)) {
                least = std::min(least, s.held);
                greatest = std::max(greatest, s.held);
            }
        const MemorySeries::Extent extent = series.over({at(a), at(b)});
        ASSERT_EQ(extent.least, least) << a << " " << b;
        ASSERT_EQ(extent.greatest, greatest) << a << " " << b;
    }
}

TEST(MemorySeries, KnowsTheClassesAtAnInstantAndAtTheGreatestValueOfAWindow) {
    const std::vector<MemorySample> samples{sample(0, 100, MemoryClass::Parameters), sample(0, 10),
                                            sample(5, 30), sample(8, 0)};
    const MemorySeries series(samples);
    const auto of = [](const auto& by_class, MemoryClass held_as) {
        return by_class[static_cast<std::size_t>(held_as)];
    };
    EXPECT_EQ(of(series.held_by_class(at(6)), MemoryClass::Activations), Bytes{30});
    EXPECT_EQ(of(series.held_by_class(at(9)), MemoryClass::Activations), Bytes{0});
    EXPECT_EQ(of(series.held_by_class(at(9)), MemoryClass::Parameters), Bytes{100});
    EXPECT_EQ(total(series.held_by_class(at(-1))), Bytes{0});
    EXPECT_EQ(of(series.over({at(0), at(20)}).by_class, MemoryClass::Activations), 30.F);
    EXPECT_EQ(of(series.over({at(8), at(20)}).by_class, MemoryClass::Activations), 0.F);
}

TEST(MemorySeries, OfNoSamplesIsEmpty) {
    EXPECT_TRUE(MemorySeries().empty());
    EXPECT_EQ(MemorySeries().over({at(0), at(1)}).greatest, Bytes{0});
}

}  // namespace
}  // namespace debubble::gui
