#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "trace/picture/document/time_axis.h"
#include "trace/trace.h"

/// What a plan's actions send over the links of their ranks: over the fabric of a node, and over
/// the network between nodes.
namespace debubble::picture {

/// The links of one class that every rank has, in one direction.
struct LinkClass {
    std::string name;                    ///< "node", "network"
    std::vector<BytesPerSecond> limits;  ///< by rank
    /// Whether those are the links' limits; of a trace without a plan they are the greatest rate
    /// of all ranks, which the lanes are drawn to.
    bool known_limits = true;
    std::string title() const { return known_limits ? name + " links" : name; }
};

/// A stretch of an action in which it sends. Shares are of the action's time.
struct LinkStretch {
    std::size_t of = 0;  ///< index in LinkTable::classes
    double begin = 0;
    double end = 1;
    double busy_s = 0;  ///< the time that its bytes take at the limit of the links
    friend bool operator==(const LinkStretch&, const LinkStretch&) = default;
};
using LinkStretches = std::vector<LinkStretch>;

/// The stretches of every span of a trace. Spans that send the same share theirs.
struct LinkTable {
    std::vector<LinkClass> classes;  ///< those over which something is sent
    std::vector<LinkStretches> uses;
    std::vector<std::uint32_t> use_of_span;  ///< index in `uses`, by index of the span

    const LinkStretches& of(std::uint32_t span) const { return uses[use_of_span[span]]; }
};

/// What a trace tells of links without its plan: one class, what each rank sends by the sizes of
/// its messages and collectives, spread over the time that each takes. Nothing says over which
/// links it goes, and how much they could carry. Null where no sizes are known.
std::shared_ptr<const LinkTable> sent_by(const Trace& trace);

struct TimelineDocument;
struct Device;

/// The class of a document's links in another one, by its name: a trace does not know a plan's.
std::optional<std::size_t> same_class(const TimelineDocument& document, std::size_t of,
                                      const TimelineDocument& other);

/// Why a document has no table, in a sentence; empty if it has one.
std::string why_no_links(const TimelineDocument& document);

/// The share of its limit that each pixel column of an axis uses of a class of links, 0 to 1, on
/// average over the column. Precondition: the document has a table.
std::vector<float> link_use(const TimelineDocument& document, const Device& device, std::size_t of,
                            const TimeAxis& axis);

/// The same over all of the document's time.
double mean_link_use(const TimelineDocument& document, const Device& device, std::size_t of);

/// The mean use of a class of links beside its limit: "61.4 % of 50 GB/s"; without one "3.1 GB/s,
/// at most 12".
std::string link_words(const TimelineDocument& document, const Device& device, std::size_t of);

}  // namespace debubble::picture
