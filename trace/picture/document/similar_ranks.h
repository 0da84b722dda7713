#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trace/picture/document/document.h"

/// Neighbouring ranks with similar steps. A long pipeline, or one of many replicas, has hundreds of
/// them.
namespace debubble::picture {

/// Whether two devices have equally many bars, and equal times of compute, exposed communication,
/// optimizer and idleness, to kSimilarWithin of the step. The causes of idle time may differ, since
/// waits propagate along a pipeline.
bool are_similar(const Device& a, const Device& b, Duration step);
inline constexpr double kSimilarWithin = 0.005;  ///< share of the step

/// A run of neighbouring devices that are similar to the first one.
struct SimilarRun {
    std::size_t first = 0;  ///< index in the list of devices; `last` is included
    std::size_t last = 0;
    std::size_t size() const { return last - first + 1; }
    friend bool operator==(const SimilarRun&, const SimilarRun&) = default;
};
/// Divides `devices` (indices in TimelineDocument::devices) into the longest possible runs. In a
/// comparison, the devices of a run are similar in `other` too.
std::vector<SimilarRun> similar_runs(const TimelineDocument& document,
                                     std::span<const std::size_t> devices,
                                     const TimelineDocument* other = nullptr);

}  // namespace debubble::picture
