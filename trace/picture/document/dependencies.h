#pragma once

#include <cstdint>
#include <vector>

#include "trace/picture/document/document.h"

namespace debubble::picture {

/// The direct dependencies of a span, and its direct dependents. Between computes a message is
/// followed to its other end, so that an arrow goes from rank to rank. For a message or a
/// collective they are those of Links.
std::vector<std::uint32_t> direct_needs(const TimelineDocument& document, std::uint32_t span);
std::vector<std::uint32_t> direct_users(const TimelineDocument& document, std::uint32_t span);

}  // namespace debubble::picture
