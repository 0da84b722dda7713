#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "trace/picture/document/device.h"
#include "trace/picture/document/link_table.h"
#include "trace/picture/document/links.h"
#include "trace/picture/document/operators.h"
#include "trace/picture/document/palette.h"
#include "trace/picture/document/short_durations.h"
#include "trace/statistics.h"

/// The content of a timeline: a trace with the indices for drawing it. A worker makes it once; it
/// never changes.
namespace debubble::picture {

/// The title of a picture.
struct Caption {
    std::string title;     ///< "step 1.234 s, bubble 12.3 %, ..."
    std::string subtitle;  ///< the plan in words
};

/// The facts about a plan that its trace lacks.
struct DocumentFacts {
    Caption caption = {};
    std::shared_ptr<const OperatorTable> operators = {};  ///< operators of its passes
    std::shared_ptr<const LinkTable> link_table = {};     ///< use of links by its spans
    /// The limit of memory minus the allocator's reserved memory and the headroom, by rank: below 0
    /// if the plan does not fit.
    std::vector<Bytes> memory_left = {};
};

struct TimelineDocument {
    Caption caption;
    Trace trace;
    Statistics statistics;  ///< statistics of the trace
    std::optional<Bytes> memory_limit;
    std::vector<Bytes> memory_left;  ///< by rank, if known (DocumentFacts)
    TimeRange range;                 ///< first start to last end
    std::vector<Device> devices;     ///< by rank, then replica
    int copies = 1;                  ///< number of identical pipelines that the trace represents
    ArrayBy<MemoryClass, bool, kMemoryClasses> holds{};  ///< whether memory of this class is held
    Bytes memory_top;                                    ///< greatest memory or limit of any device
    ArrayBy<Paint, bool, kPaints> paints{};              ///< whether any bar has this paint
    Links links;
    std::shared_ptr<const OperatorTable> operators;  ///< operators of the passes, if known
    std::shared_ptr<const LinkTable> link_table;     ///< use of links by the spans, as far as known
    ShortDurations waits;  ///< each span's wait for a peer, which net_lengths() leaves out

    TimelineDocument() = default;
    /// Not copied, because its parts point at each other.
    TimelineDocument(const TimelineDocument&) = delete;
    TimelineDocument& operator=(const TimelineDocument&) = delete;

    const Span& span(std::size_t i) const { return trace.spans[i]; }
    /// The length of a span without its wait for a peer.
    Duration net_length(std::size_t i) const { return span(i).length() - waits[i]; }
    /// The device of the rank with statistics, or else any device of the rank; nullptr if there is
    /// none.
    const Device* device_of(Rank rank) const;
    const Device* device_of(const Span& span) const;
    /// The parts of the device's pair in this range, as indices into Trace::pair_parts.
    std::span<const std::uint32_t> parts_of(const Device& device, TimeRange when) const;
    const Bubble& bubble(std::size_t i) const { return statistics.bubbles[i]; }
};

using Document = std::shared_ptr<const TimelineDocument>;

/// Makes a document. `limit` is the memory of one device; `statistics` must belong to this trace.
/// O(n log n). Throws Cancelled soon after a stop is requested.
Document make_document(Trace trace, Statistics statistics, std::optional<Bytes> limit,
                       const std::stop_token& stop = {}, DocumentFacts facts = {});
Document make_document(Trace trace, std::optional<Bytes> limit);

}  // namespace debubble::picture
