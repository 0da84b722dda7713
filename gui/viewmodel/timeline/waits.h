#pragma once

#include <cstdint>
#include <optional>

#include "gui/viewmodel/timeline/scene.h"

/// The bubbles one after another, and what each of them waits for.
namespace debubble::gui {

/// The action whose end, or whose beginning on the same rank, ends a bubble: the compute of another
/// rank, the message or the collective that the rank waited for; the last compute of all for a
/// cool-down; the rank's own next action if the host was late. Nothing if the trace does not tell.
std::optional<std::uint32_t> ends_wait(const TimelineDocument& document, const Bubble& bubble);

/// The bubble after (`by` is 1) or before (-1) the selection: of the same rank in the order of
/// time, then of the next rank. The first or the last of all if nothing is selected; nothing at the
/// ends.
std::optional<BubbleRef> bubble_beside(const Scene& scene, const Selection& selection, int by);

}  // namespace debubble::gui
