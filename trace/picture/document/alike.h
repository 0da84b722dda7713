#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trace/picture/document/document.h"

/// Neighbouring ranks whose steps look the same, which a long pipeline or many replicas have by the
/// hundred.
namespace debubble::picture {

/// Whether two devices have as many bars, and are busy, expose communication, step the optimizer
/// and are idle as long as each other, to kAlike of the step. Why they are idle may differ: waits
/// wander along a pipeline.
bool are_alike(const Device& a, const Device& b, Duration step);
inline constexpr double kAlike = 0.005;

/// The given devices (indices in TimelineDocument::devices) in runs whose members are like their
/// first one. A run is as long as it can be, and no device is left out.
struct AlikeRun {
    std::size_t first = 0;  ///< indices in the list of the given ones, both included
    std::size_t last = 0;
    std::size_t size() const { return last - first + 1; }
    friend bool operator==(const AlikeRun&, const AlikeRun&) = default;
};
/// Where two documents are compared, the devices of those ranks in `other` are alike too.
std::vector<AlikeRun> alike_runs(const TimelineDocument& document,
                                 std::span<const std::size_t> devices,
                                 const TimelineDocument* other = nullptr);

}  // namespace debubble::picture
