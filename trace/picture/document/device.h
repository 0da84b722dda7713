#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/purposes.h"
#include "trace/picture/document/memory_series.h"
#include "trace/picture/document/track.h"
#include "trace/picture/document/work_sums.h"
#include "trace/statistics.h"

/// One rank in a timeline.
namespace debubble::picture {

/// Communication of a device on one lane, or its computes that overlap others.
struct Stream {
    Lane lane{};
    std::string name;  ///< such as "send" or "send 2"
    Bars bars;
};

/// The number of bubbles in a block, which is searched only if its longest bubble is long enough.
inline constexpr std::size_t kBubbleBlock = 16;

/// One pipeline rank of one replica.
struct Device {
    Rank rank;
    std::int32_t replica = 0;
    std::string name;  ///< such as "rank 3" or "rank 3 replica 1"
    std::vector<Stage> stages;
    Bars work;  ///< computes and optimizer steps
    std::vector<Stream> streams;
    std::vector<std::uint32_t> pair_parts;  ///< indices into Trace::pair_parts, by their begin
    /// The rank's part of TimelineDocument::statistics, and its bubbles [first_bubble,
    /// last_bubble). One replica of each rank has them.
    const RankStatistics* statistics = nullptr;
    std::size_t first_bubble = 0;
    std::size_t last_bubble = 0;
    std::vector<Duration> longest_bubbles;  ///< the longest bubble of each block
    Bars between;                           ///< exposed communication between the bars of `work`
    DurationByKind exposed_by{};            ///< known parts of the exposed communication
    WorkSums sums;                          ///< of `work` and `between`
    MemorySeries memory;
    const MemoryPeak* peak = nullptr;
    std::optional<std::uint32_t> peak_span;  ///< the span that ran at the peak
};

}  // namespace debubble::picture
