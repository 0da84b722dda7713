#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "trace/picture/links.h"
#include "trace/picture/memory_series.h"
#include "trace/picture/palette.h"
#include "trace/picture/track.h"
#include "trace/statistics.h"

/// The content of a timeline: a trace with everything that is looked up in it while it is drawn. It
/// is made once, in a worker, and never changed.
namespace debubble::picture {

/// Communication of one device on one lane, or computes that overlap others.
struct Stream {
    Lane lane{};
    std::string name;  ///< such as "send" or "send 2"
    Bars bars;
};

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
    std::vector<std::uint32_t> longest_bubbles;  ///< the same bubbles, the longest first
    MemorySeries memory;
    const MemoryPeak* peak = nullptr;
    std::optional<std::uint32_t> peak_span;  ///< the span that ran at the peak
};

/// The texts at the head of a picture.
struct Caption {
    std::string title;     ///< "step 1.234 s, bubble 12.3 %, ..."
    std::string subtitle;  ///< the plan in words
};

struct TimelineDocument {
    Caption caption;
    Trace trace;
    Statistics statistics;  ///< statistics of the trace
    std::optional<Bytes> memory_limit;
    TimeRange range;              ///< first start to last end
    std::vector<Device> devices;  ///< by rank, then replica
    int copies = 1;               ///< number of identical pipelines that the trace represents
    Bytes memory_top;             ///< greatest memory or limit of any device
    std::array<bool, kPaints> paints{};  ///< whether anything in it has this paint
    Links links;
    std::vector<Duration> net_lengths;  ///< length of each span, without its wait for a peer

    TimelineDocument() = default;
    /// Not copied, since its parts point at each other.
    TimelineDocument(const TimelineDocument&) = delete;
    TimelineDocument& operator=(const TimelineDocument&) = delete;

    const Span& span(std::size_t i) const { return trace.spans[i]; }
    /// The device of the rank whose statistics are kept, or else any device of that rank; nullptr
    /// if there is none.
    const Device* device_of(Rank rank) const;
    const Device* device_of(const Span& span) const;
    /// The parts of the device's pair that runs then, as indices into Trace::pair_parts.
    std::span<const std::uint32_t> parts_of(const Device& device, TimeRange when) const;
    const Bubble& bubble(std::size_t i) const { return statistics.bubbles[i]; }
};

using Document = std::shared_ptr<const TimelineDocument>;

/// Makes a document. `limit` is the memory of one device; `statistics` must belong to this trace.
/// O(n log n). Throws Cancelled soon after the document is no longer wanted.
Document make_document(Trace trace, Statistics statistics, std::optional<Bytes> limit,
                       const std::stop_token& stop = {}, Caption caption = {});
Document make_document(Trace trace, std::optional<Bytes> limit);

}  // namespace debubble::picture
