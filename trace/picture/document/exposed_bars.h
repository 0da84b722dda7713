#pragma once

#include <span>

#include "trace/picture/document/device.h"

/// The exposed communication of a device: inside its bars, and between them.
namespace debubble::picture {

/// The stretches between computes in which a collective or a copy runs that nothing hides, as bars
/// of that span. `bubbles` are those of the device, `range` is that of its trace. Precondition: the
/// device's statistics and streams are set.
Bars exposed_between(const Device& device, std::span<const Bubble> bubbles, TimeRange range);

/// What the exposed communication of a rank serves. It adds up to less than all of it where a trace
/// does not say what its computes wait for. Precondition: the device's statistics are set.
DurationByKind exposed_by_kind(const Trace& trace, const Device& device);

/// The work of a device's lane of bars, with what is exposed between them. Precondition:
/// Device::between is set.
WorkSums work_sums(const Trace& trace, const Device& device);

/// The kinds of work in a stretch of a span, as long as `length`.
WorkArea work_of(const Span& span, Duration length);

/// The exposed share of a bar, 0 to 1.
double exposed_share(const Span& span);

}  // namespace debubble::picture
