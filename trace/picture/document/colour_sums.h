#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/picture/document/palette.h"
#include "trace/picture/document/track.h"

namespace debubble::picture {

/// Colour integrated over time, in whole nanoseconds and nanoseconds x channel (0..255). It gives
/// the exact colour of a pixel that bars cover in part.
struct ColourArea {
    std::int64_t covered = 0;
    std::int64_t red = 0;
    std::int64_t green = 0;
    std::int64_t blue = 0;
    friend bool operator==(const ColourArea&, const ColourArea&) = default;

    ColourArea& operator+=(const ColourArea& o) {
        covered += o.covered;
        red += o.red;
        green += o.green;
        blue += o.blue;
        return *this;
    }
    friend ColourArea operator-(const ColourArea& a, const ColourArea& b) {
        return {a.covered - b.covered, a.red - b.red, a.green - b.green, a.blue - b.blue};
    }
};

/// The mean over `length`, with `ground` in the part that no bar covers.
Rgb blend(const ColourArea& area, Duration length, Rgb ground);

/// The prefix sums of a track's colour at every few bars (a summed-area table in one dimension:
/// Crow 1984), so that the mean of any window is the difference of two look-ups. A mip pyramid
/// would be exact at its own levels only and blur between them; these sums blend every pixel by the
/// true area at every zoom, and the same code paints a step of a million operators and a single
/// one.
class ColourSums {
public:
    /// `colours` has one colour per bar. The bars must outlive the sums. O(n).
    ColourSums(std::span<const Bar> bars, const std::vector<Rgb>& colours);

    /// The exact colour of any window.
    ColourArea over(TimeRange window) const;

    Rgb colour(std::size_t bar) const {
        return blocks_.empty() ? only_ : blocks_[bar / kBlock].colours[bar % kBlock];
    }

    /// A walk to the right. Precondition: the instants do not descend. Each step takes constant
    /// time on average.
    class Walk {
    public:
        explicit Walk(const ColourSums& sums) : sums_(&sums) {}
        ColourArea until(Instant at);

    private:
        const ColourSums* sums_;
        std::size_t next_ = 0;  ///< the first bar that ends after `at`
    };

private:
    static constexpr std::size_t kBlock = 4;    ///< bars
    static constexpr std::size_t kCovered = 8;  ///< bars
    /// The sums of a track with bars of several colours.
    struct Block {
        ColourArea before;  ///< colour of all bars to the left
        std::array<Rgb, kBlock> colours{};
    };
    void sum_blocks(const std::vector<Rgb>& colours);
    void sum_covered();
    ColourArea at_bar(std::size_t next, Instant at) const;

    std::span<const Bar> bars_;
    std::vector<Block> blocks_;  ///< one more than the number of full blocks
    /// For a track of one colour, such as messages: the covered time before every kCovered bars.
    std::vector<std::int64_t> covered_;
    Rgb only_;  ///< its colour
    /// The first bar that ends after origin_ + i x 2^shift_: about one cell for eight bars.
    std::vector<std::uint32_t> cells_;
    Instant origin_;
    int shift_ = 0;
};

}  // namespace debubble::picture
