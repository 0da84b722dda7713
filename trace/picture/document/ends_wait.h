#pragma once

#include <cstdint>
#include <optional>

#include "trace/picture/document/document.h"

namespace debubble::picture {

/// The action whose end, or whose beginning on the same rank, ends a bubble: the compute of another
/// rank, the message or the collective that the rank waited for; the last compute of all for a
/// cool-down; the rank's own next action if the host was late. Nothing if the trace does not tell.
std::optional<std::uint32_t> ends_wait(const TimelineDocument& document, const Bubble& bubble);

}  // namespace debubble::picture
