#pragma once

#include <span>

#include "trace/picture/document/device.h"

/// The exposed communication of a device: inside its bars, and between them.
namespace debubble::picture {

/// The intervals between computes in which a collective or a copy is exposed, as bars of its span.
/// `bubbles` are the device's, `range` is the trace's. Precondition: the device's statistics and
/// streams are set.
Bars exposed_between(const Device& device, std::span<const Bubble> bubbles, TimeRange range);

/// Adds the exposed communication between the computes of a rank to its purposes.
void add_between_by_kind(DurationByKind& sums, const RankStatistics& rank);

/// The kinds of work in the bar of a span.
BarWork bar_work(const Span& span);

/// The exposed share of a span's length, 0 to 1.
double exposed_share(const Span& span);

}  // namespace debubble::picture
