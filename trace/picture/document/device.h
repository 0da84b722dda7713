#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/purposes.h"
#include "trace/picture/document/memory_series.h"
#include "trace/picture/document/track.h"
#include "trace/picture/document/work_sums.h"
#include "trace/statistics.h"

/// What a timeline shows of one rank.
namespace debubble::picture {

/// Communication of one device on one lane, or computes that overlap others.
struct Stream {
    Lane lane{};
    std::string name;  ///< such as "send" or "send 2"
    Bars bars;
};

/// So many bubbles that follow each other are looked through where the longest of them is long
/// enough.
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
    /// last_bubble). Another replica of the rank, whose statistics are not kept, has none.
    const RankStatistics* statistics = nullptr;
    std::size_t first_bubble = 0;
    std::size_t last_bubble = 0;
    std::vector<Duration> longest_bubbles;  ///< the longest of every kBubbleBlock of them
    Bars between;                           ///< exposed communication between the bars of `work`
    DurationByKind exposed_by{};            ///< parts of the exposed communication, as far as known
    WorkSums sums;                          ///< of `work` and `between`
    MemorySeries memory;
    const MemoryPeak* peak = nullptr;
    std::optional<std::uint32_t> peak_span;  ///< the span that ran at the peak
};

}  // namespace debubble::picture
