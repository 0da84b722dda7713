#pragma once

#include <cstdint>
#include <vector>

#include "trace/picture/document/document.h"

namespace debubble::picture {

/// The spans for which a span directly waits, and those that wait for it. From compute to compute a
/// message is followed to its other end, so that the arrow goes from rank to rank. For a message or
/// a collective they are those of Links.
std::vector<std::uint32_t> direct_needs(const TimelineDocument& document, std::uint32_t span);
std::vector<std::uint32_t> direct_users(const TimelineDocument& document, std::uint32_t span);

}  // namespace debubble::picture
