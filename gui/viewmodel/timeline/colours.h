#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gui/viewmodel/timeline/colour_sums.h"
#include "gui/viewmodel/timeline/document.h"
#include "trace/picture/palette.h"

/// Which colour everything has.
namespace debubble::gui {

enum class Theme : std::uint8_t { Light, Dark };

enum class ColourBy : std::uint8_t { Kind, MicroBatch, Stage, Error };

/// What is drawn besides bars.
struct Ground {
    Rgb window;  ///< behind the rows
    Rgb gutter;
    Rgb lane;   ///< of a row where nothing runs and nothing is idle
    Rgb hatch;  ///< of bubbles
    Rgb grid;
    Rgb text;
    Rgb faint_text;
    Rgb accent;   ///< selection, critical path
    Rgb warning;  ///< above the memory limit
    Rgb memory_lasting;
    Rgb memory_live;
    Rgb memory_varying;  ///< between least and greatest of a column
    Rgb memory_edge;
};
const Ground& ground_of(Theme theme);
const Palette& palette_of(Theme theme);

Rgb mix(Rgb a, Rgb b, double share_of_b);

struct ColourScheme {
    Theme theme = Theme::Light;
    ColourBy by = ColourBy::Kind;
    /// Relative error per span, for ColourBy::Error; spans without one are grey.
    std::shared_ptr<const std::vector<std::optional<float>>> errors = nullptr;
    /// Per span: drawn, or faded into the ground because something else is meant. Empty: drawn.
    std::shared_ptr<const std::vector<bool>> meant = nullptr;
    double faded = 0;  ///< how far everything is; the plan before is a ghost
};

/// Blue for too short, red for too long, the ground's grey for equal; full at 30 %.
Rgb colour_of_error(double error, Theme theme);

/// The colour sums of all tracks of a document.
struct DeviceColours {
    ColourSums work;
    std::optional<ColourSums> lower_half;  ///< where the device has Overlaps: the second computes
    std::vector<ColourSums> streams;
};
struct Colouring {
    std::vector<DeviceColours> devices;
};

/// O(n): some 20 ns a span.
std::shared_ptr<const Colouring> colour(const TimelineDocument& document,
                                        const ColourScheme& scheme);

}  // namespace debubble::gui
