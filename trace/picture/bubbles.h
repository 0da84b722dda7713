#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/picture/colours.h"
#include "trace/picture/document/document.h"
#include "trace/picture/document/time_axis.h"
#include "trace/picture/shapes.h"

/// The drawing of bubbles.
namespace debubble::picture {

/// The colours of a bubble, tinted by its cause. The contrast of its hatching is 3:1 or more with
/// its ground and its surroundings (WCAG 2, non-text contrast), that of its words with the ground
/// 4.5:1 or more.
struct BubbleColours {
    Rgb ground;
    Rgb line;
    Rgb words;
};
BubbleColours bubble_colours(BubbleCause cause, Theme theme);

/// The lines of the first of these labels that fits: "waits for a stage, 4.2 ms", "stage 4.2
/// ms", the same in two lines, "4.2 ms"; none if none fits into `lines` lines of `letters`
/// letters. Times are rounded to three digits.
std::vector<std::string> bubble_label(BubbleCause cause, Duration length, double letters,
                                      int lines);

/// The lines that hatch the bar of a recomputed forward.
Hatch recompute_hatch(Theme theme);

/// The visible bubbles of a device that are at least `least_width` pixels wide, in no order.
std::vector<std::uint32_t> wide_bubbles(const TimelineDocument& document, const Device& device,
                                        const TimeAxis& axis, double least_width);

}  // namespace debubble::picture
