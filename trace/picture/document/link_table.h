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

/// The bytes that a plan's actions send over the links of their ranks: over the fabric of a node,
/// and over the network between nodes.
namespace debubble::picture {

/// The links of one class, which every rank has, in one direction.
struct LinkClass {
    std::string name;                    ///< "node", "network"
    std::vector<BytesPerSecond> limits;  ///< by rank
    /// Whether these are the limits of the links. For a trace without a plan they are the greatest
    /// rate of all ranks, the upper end of the lanes.
    bool known_limits = true;
    std::string title() const { return known_limits ? name + " links" : name; }
};

/// An interval of an action in which it sends, in shares of the action's time.
struct LinkStretch {
    std::size_t of = 0;  ///< index in LinkTable::classes
    double begin = 0;
    double end = 1;
    double busy_s = 0;  ///< time of its bytes at the limit of the links
    friend bool operator==(const LinkStretch&, const LinkStretch&) = default;
};
using LinkStretches = std::vector<LinkStretch>;

/// The stretches of every span of a trace. Spans with the same stretches share them.
struct LinkTable {
    std::vector<LinkClass> classes;  ///< classes over which bytes are sent
    std::vector<LinkStretches> uses;
    std::vector<std::uint32_t> use_of_span;  ///< index in `uses`, by index of the span

    const LinkStretches& of(std::uint32_t span) const { return uses[use_of_span[span]]; }
};

/// The use of links by a trace without a plan: one class with the bytes of each rank's messages and
/// collectives, each spread over its time. The trace shows neither the links that carry them nor
/// their limits. Null if no sizes are known.
std::shared_ptr<const LinkTable> sent_by(const Trace& trace);

struct TimelineDocument;
struct Device;

/// The index in `other` of the class with the same name; empty if `other` lacks it, as a trace
/// lacks the classes of a plan.
std::optional<std::size_t> same_class(const TimelineDocument& document, std::size_t of,
                                      const TimelineDocument& other);

/// The reason why a document has no table, as a sentence; empty if it has one.
std::string why_no_links(const TimelineDocument& document);

/// The used share of a class's limit, 0 to 1, on average over each pixel column of the axis.
/// Precondition: the document has a table.
std::vector<float> link_use(const TimelineDocument& document, const Device& device, std::size_t of,
                            const TimeAxis& axis);

/// The same on average over the whole document.
double mean_link_use(const TimelineDocument& document, const Device& device, std::size_t of);

/// The mean use of a class of links and its limit: "61.4 % of 50 GB/s"; without a known limit "3.1
/// GB/s, at most 12".
std::string link_words(const TimelineDocument& document, const Device& device, std::size_t of);

}  // namespace debubble::picture
