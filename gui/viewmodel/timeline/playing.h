#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/viewmodel/timeline/scene.h"
#include "trace/picture/view.h"

/// A step that is played: a cursor runs through it and shows what every rank does.
namespace debubble::gui {

/// The state of a device at an instant.
struct DeviceState {
    const Device* device = nullptr;
    std::optional<std::uint32_t> span;    ///< the running bar
    std::optional<std::uint32_t> bubble;  ///< the present bubble
    std::string words;  ///< a bubble's cause and remaining time: "for 3F7, 1.2 ms"
};

/// A message during its transfer.
struct Transfer {
    std::uint32_t span = 0;
    const Device* from = nullptr;
    const Device* to = nullptr;
    double share = 0;  ///< share of the transfer that is done, 0 to 1
};

struct Now {
    std::vector<DeviceState> devices;  ///< in the order of the document
    std::vector<Transfer> messages;
};

Now now_at(const TimelineDocument& document, Instant at);

/// The share of passes that have ended on both sides of a comparison at this instant of the axis:
/// "A 61 %, B 58 %"; the end of a side that is done. Empty without a comparison.
std::string comparison_progress(const Scene& scene, Instant at);

/// The instant of the axis after the cursor has run for `wall_s` seconds: it crosses the view in
/// kSecondsAcross. Nothing at the end of the timeline.
std::optional<Instant> advanced(const TimeAxis& axis, Instant at, double wall_s);
inline constexpr double kSecondsAcross = 12;

/// The cursor, and for every row the running bar, messages to other rows, the held memory, and the
/// cause of a wait. Empty while Scene::cursor is not set.
Shapes playing_shapes(const Scene& scene, const View& view);

}  // namespace debubble::gui
