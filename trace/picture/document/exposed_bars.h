#pragma once

#include <span>

#include "trace/picture/document/device.h"

/// The exposed communication of a device: inside its bars, and between them.
namespace debubble::picture {

/// The stretches between computes in which a collective or a copy runs that nothing hides, as bars
/// of that span. `bubbles` are those of the device, `range` is that of its trace. Precondition: the
/// device's statistics and streams are set.
Bars exposed_between(const Device& device, std::span<const Bubble> bubbles, TimeRange range);

/// Adds the purposes of the communication that is exposed between the computes of a rank.
void add_between_by_kind(DurationByKind& sums, const RankStatistics& rank);

/// The kinds of work of a bar that shows a span.
BarWork bar_work(const Span& span);

/// The exposed share of a bar, 0 to 1.
double exposed_share(const Span& span);

}  // namespace debubble::picture
