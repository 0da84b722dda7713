#pragma once

#include <cstdint>
#include <vector>

#include "trace/picture/colours.h"
#include "trace/picture/document.h"
#include "trace/picture/shapes.h"
#include "trace/picture/time_axis.h"

/// The drawing of bubbles.
namespace debubble::picture {

/// The colours of a bubble, tinted by its cause. The lines that hatch it have a contrast of 3:1 or
/// more with its ground (WCAG 2, non-text contrast), so that bubbles are seen by everybody.
struct BubbleColours {
    Rgb ground;
    Rgb line;
};
BubbleColours bubble_colours(BubbleCause cause, Theme theme);

/// The lines that hatch the bar of a recomputed forward.
Hatch recompute_hatch(Theme theme);

/// The bubbles of a device in sight that are at least `least_width` pixels wide, in no order.
std::vector<std::uint32_t> wide_bubbles(const TimelineDocument& document, const Device& device,
                                        const TimeAxis& axis, double least_width);

}  // namespace debubble::picture
