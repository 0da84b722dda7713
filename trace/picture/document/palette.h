#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "schedule/action.h"

/// The colours of a timeline. They were chosen so that the worst pair differs by 18.5 (light) and
/// 19.5 (dark) CIEDE2000 for normal sight and for three kinds of colour blindness; letters inside
/// the bars are the second channel.
namespace debubble {

enum class Paint : std::uint8_t {
    Forward,
    Recompute,  ///< Forward, hatched
    Backward,   ///< B and I
    Weight,
    PointToPoint,
    Collective,
    Optimizer,
    Bubble,  ///< hatched
};
inline constexpr std::size_t kPaints = 8;

struct Rgb {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;
    friend bool operator==(const Rgb&, const Rgb&) = default;
};

using Palette = ArrayBy<Paint, Rgb, kPaints>;
extern const Palette kLightPalette;
extern const Palette kDarkPalette;

/// The paint of an action; for an Overlap, that of its first compute.
Paint paint_of(const Action& action);
std::string_view name_of(Paint paint);  ///< word in a legend: "forward", ...

double contrast(Rgb a, Rgb b);  ///< WCAG 2, 1 to 21
std::string hex(Rgb colour);    ///< "#74C2F5"
/// Black or white, whichever has the greater contrast with the colour (WCAG 2).
Rgb ink_on(Rgb colour);

}  // namespace debubble
