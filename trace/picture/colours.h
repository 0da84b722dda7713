#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/purposes.h"
#include "trace/picture/document/colour_sums.h"
#include "trace/picture/document/document.h"
#include "trace/picture/document/palette.h"

/// The colours of a timeline.
namespace debubble::picture {

enum class Theme : std::uint8_t { Light, Dark };

enum class ColourBy : std::uint8_t { Kind, MicroBatch, Stage, Error };

/// Colours of everything but bars.
struct Ground {
    Rgb window;  ///< background of the rows
    Rgb gutter;
    Rgb lane;   ///< part of a row without bars and without idle time
    Rgb hatch;  ///< hatching of bubbles
    Rgb grid;
    Rgb text;
    Rgb faint_text;
    Rgb accent;   ///< selection, critical path
    Rgb warning;  ///< memory above the limit, a change for the worse
    Rgb better;   ///< a change for the better
    Rgb memory_lasting;
    ArrayBy<MemoryClass, Rgb, kMemoryClasses> memory;
    Rgb memory_edge;
};
const Ground& ground_of(Theme theme);
const Palette& palette_of(Theme theme);
inline Rgb paint(Paint of, Theme theme) {
    return palette_of(theme)[of];
}

Rgb mix(Rgb a, Rgb b, double share_of_b);

struct ColourScheme {
    Theme theme = Theme::Light;
    ColourBy by = ColourBy::Kind;
    /// Relative error of each span, for ColourBy::Error; spans without one are grey.
    std::shared_ptr<const std::vector<std::optional<float>>> errors = nullptr;
    /// Whether each span is highlighted; all others are faded into the ground. Empty: no span is
    /// faded.
    std::shared_ptr<const std::vector<bool>> meant = nullptr;
    double faded = 0;  ///< share of the ground in all colours, for the ghost of the plan before
};

/// The colour of a relative error: blue for too short, red for too long, the ground's grey for
/// none; saturated at 30 %.
Rgb colour_of_error(double error, Theme theme);

/// The colour sums of all tracks of a document.
struct DeviceColours {
    ColourSums work;
    std::optional<ColourSums> lower_half;  ///< second computes of Overlaps, if there are any
    std::vector<ColourSums> streams;
};
struct Colouring {
    std::vector<DeviceColours> devices;
    /// Whether the exposed part of a bar has the colour of communication; not if colours show
    /// errors or some bars are faded.
    bool exposed = true;
};

/// Colours a document. O(n): some 20 ns a span.
std::shared_ptr<const Colouring> colour(const TimelineDocument& document,
                                        const ColourScheme& scheme);

}  // namespace debubble::picture
