#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace debubble::profile {

/// From `at` (ns, of the rank's clock) on, `held` bytes of its allocator were allocated.
struct MemoryPoint {
    std::int64_t at = 0;
    std::int64_t held = 0;
    friend auto operator<=>(const MemoryPoint&, const MemoryPoint&) = default;
};

/// The allocated memory over time, from any number of events in bounded memory: of neighbouring
/// events the greatest counts, so that no peak is lost.
class MemoryCurve {
public:
    explicit MemoryCurve(std::size_t most = 16'384) : most_(most) {}
    void add(MemoryPoint point);
    bool empty() const { return points_.empty(); }
    /// At most `most` points, by time.
    std::vector<MemoryPoint> take();

private:
    void halve();

    std::size_t most_;
    std::size_t each_ = 1;     ///< number of events per point
    std::size_t in_last_ = 0;  ///< events in the last point; 0 if it is complete
    std::vector<MemoryPoint> points_;
};

/// The allocated memory of a rank's device; times are nanoseconds since the trace began.
struct RecordedMemory {
    Rank rank;
    std::int32_t replica = 0;
    std::vector<MemoryPoint> points;
};

/// Adds memory over time to a trace, and its peaks where every rank recorded some. An allocator
/// does not record the purpose of its bytes: all of them are shown as activations. Of several
/// replicas of a rank the one with the greatest peak counts, and nothing outside of the trace's
/// spans. Precondition: the trace has spans.
void add_recorded_memory(Trace& trace, const std::vector<RecordedMemory>& recorded);

}  // namespace debubble::profile
