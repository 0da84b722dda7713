#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/viewmodel/timeline/scene.h"
#include "trace/picture/view.h"

/// A step that is played: a cursor runs through it, and says what every rank does there.
namespace debubble::gui {

/// What one device does at an instant.
struct Doing {
    const Device* device = nullptr;
    std::optional<std::uint32_t> span;    ///< the bar that runs
    std::optional<std::uint32_t> bubble;  ///< the bubble that it is in
    std::string words;  ///< of a bubble, for whom it waits and how much longer: "for 3F7, 1.2 ms"
};

/// A message on its way.
struct Travelling {
    std::uint32_t span = 0;
    const Device* from = nullptr;
    const Device* to = nullptr;
    double share = 0;  ///< of its way, 0 to 1
};

struct Now {
    std::vector<Doing> devices;  ///< those of the document, in its order
    std::vector<Travelling> messages;
};

Now now_at(const TimelineDocument& document, Instant at);

/// How far both sides of a comparison are when their clock shows this instant of the axis, in
/// passes that have ended: "A 61 %, B 58 %"; a side that has ended says so. Empty where there is
/// one side.
std::string race_words(const Scene& scene, Instant at);

/// The instant of the axis after the cursor has run for `wall_s` seconds: the part in sight takes
/// kSecondsAcross. Nothing once the end of the whole is reached.
std::optional<Instant> advanced(const TimeAxis& axis, Instant at, double wall_s);
inline constexpr double kSecondsAcross = 12;

/// The cursor with what it says of every row: the bars that run, messages between rows, the level
/// of memory, and for whom ranks wait. Empty while Scene::cursor is not set.
Shapes playing_shapes(const Scene& scene, const View& view);

}  // namespace debubble::gui
