#pragma once

#include <array>
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

/// The content of a timeline: a trace with everything that is looked up in it while it is drawn. It
/// is made once, in a worker, and never changed.
namespace debubble::picture {

/// The texts at the head of a picture.
struct Caption {
    std::string title;     ///< "step 1.234 s, bubble 12.3 %, ..."
    std::string subtitle;  ///< the plan in words
};

/// What is known of a plan besides its trace.
struct DocumentFacts {
    Caption caption = {};
    std::shared_ptr<const OperatorTable> operators = {};  ///< of its passes
    std::shared_ptr<const LinkTable> link_table = {};     ///< of its spans
    /// The memory that is left on each rank once what the allocator reserves and the headroom are
    /// taken off the limit: below 0 where the plan does not fit.
    std::vector<Bytes> memory_left = {};
};

struct TimelineDocument {
    Caption caption;
    Trace trace;
    Statistics statistics;  ///< statistics of the trace
    std::optional<Bytes> memory_limit;
    std::vector<Bytes> memory_left;  ///< by rank, if it is known (DocumentFacts)
    TimeRange range;                 ///< first start to last end
    std::vector<Device> devices;     ///< by rank, then replica
    int copies = 1;                  ///< number of identical pipelines that the trace represents
    std::array<bool, kMemoryClasses> holds{};  ///< whether anything is held as this class
    Bytes memory_top;                          ///< greatest memory or limit of any device
    std::array<bool, kPaints> paints{};        ///< whether anything in it has this paint
    Links links;
    std::shared_ptr<const OperatorTable> operators;  ///< of the passes, if they are known
    std::shared_ptr<const LinkTable> link_table;     ///< of the spans, as far as it is known
    ShortDurations waits;  ///< of each span, for a peer: the part that net_lengths() leaves out

    TimelineDocument() = default;
    /// Not copied, since its parts point at each other.
    TimelineDocument(const TimelineDocument&) = delete;
    TimelineDocument& operator=(const TimelineDocument&) = delete;

    const Span& span(std::size_t i) const { return trace.spans[i]; }
    /// The length of a span without its wait for a peer.
    Duration net_length(std::size_t i) const { return span(i).length() - waits[i]; }
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
                       const std::stop_token& stop = {}, DocumentFacts facts = {});
Document make_document(Trace trace, std::optional<Bytes> limit);

}  // namespace debubble::picture
