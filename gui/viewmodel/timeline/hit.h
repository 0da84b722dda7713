#pragma once

#include <optional>

#include "gui/viewmodel/timeline/scene.h"

/// The object under the pointer.
namespace debubble::gui {

struct Hit {
    enum class Part : std::uint8_t { Nothing, Lane, Span, Bubble, Memory, Peak };
    Part part = Part::Nothing;
    const Row* row = nullptr;  ///< row of the scene's layout
    Selection selected;        ///< a span or a bubble
    Side side = Side::A;       ///< side of the memory lane
};

/// Finds the object at `x` on the axis and `y` below the top of the first row.
Hit hit_test(const Scene& scene, const TimeAxis& axis, double x, int y);

/// The position of a span: among the bars of its device, in its stream's row, or in the strip of
/// messages while that row is closed.
struct SpanPlace {
    const Row* row = nullptr;
    Band band;
    TimeRange range;  ///< range on the axis
};
/// The position of a span; nothing if its device is folded away.
std::optional<SpanPlace> place_of(const Scene& scene, const SpanRef& ref);

/// The row of a span or a bubble.
const Row* row_of(const Scene& scene, const Selection& selection);

/// The bubble of a device at an instant of its document.
std::optional<std::uint32_t> bubble_at(const TimelineDocument& document, const Device& device,
                                       Instant at);

}  // namespace debubble::gui
