#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "trace/picture/document/time_axis.h"

/// What a plan's actions send over the links of their ranks: over the fabric of a node, and over
/// the network between nodes.
namespace debubble::picture {

/// The links of one class that every rank has, in one direction.
struct LinkClass {
    std::string name;                    ///< "node", "network"
    std::vector<BytesPerSecond> limits;  ///< by rank
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

struct TimelineDocument;
struct Device;

/// The share of its limit that each pixel column of an axis uses of a class of links, 0 to 1, on
/// average over the column. Precondition: the document has a table.
std::vector<float> link_use(const TimelineDocument& document, const Device& device, std::size_t of,
                            const TimeAxis& axis);

/// The same over all of the document's time.
double mean_link_use(const TimelineDocument& document, const Device& device, std::size_t of);

}  // namespace debubble::picture
