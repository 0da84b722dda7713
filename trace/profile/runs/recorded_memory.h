#pragma once

#include <cstdint>
#include <vector>

#include "trace/profile/memory_curve.h"
#include "trace/trace.h"

namespace debubble::profile {

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
