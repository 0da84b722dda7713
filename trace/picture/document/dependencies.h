#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/picture/document/document.h"

namespace debubble::picture {

/// The direct dependencies of a span, and its direct dependents. Between computes a message is
/// followed to its other end, so that an arrow goes from rank to rank. For a message or a
/// collective they are those of Links.
std::vector<std::uint32_t> direct_needs(const TimelineDocument& document, std::uint32_t span);
std::vector<std::uint32_t> direct_users(const TimelineDocument& document, std::uint32_t span);

/// The action whose end, or whose beginning on the same rank, ends a bubble: the compute of another
/// rank, the message or the collective that the rank waited for; the last compute of all for a
/// cool-down; the rank's own next action if the host was late. Nothing if the trace does not tell.
std::optional<std::uint32_t> action_that_ends(const TimelineDocument& document,
                                              const Bubble& bubble);

}  // namespace debubble::picture
