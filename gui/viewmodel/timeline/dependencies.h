#pragma once

#include <cstdint>
#include <vector>

#include "gui/viewmodel/timeline/document.h"

namespace debubble::gui {

/// What a span directly waits for, and what waits for it. From compute to compute a message is
/// followed to its other end: the arrow goes from rank to rank. Of a message or a collective, what
/// Links say.
std::vector<std::uint32_t> direct_needs(const TimelineDocument& document, std::uint32_t span);
std::vector<std::uint32_t> direct_users(const TimelineDocument& document, std::uint32_t span);

}  // namespace debubble::gui
