#pragma once

#include <cstdint>

#include "base/inline_vector.h"
#include "base/units.h"

/// What is sent, and over which links.
namespace debubble::sim {

/// One direction of something that flows share max-min fairly: an index into
/// CostModel::links().
using Link = std::int32_t;

/// A communication: `latency` first, then `bytes` over all its links at once.
/// A flow without links takes exactly its latency.
struct Flow {
    Duration latency{};
    Bytes bytes;
    InlineVector<Link, 4> links;
    Bytes payload;  ///< the tensor's size, which the trace reports
};

/// The part of a collective that runs beside a compute. It begins `beside` before the end of the
/// backward whose gradients it reduces; the forward that reads what it gathers ends no earlier than
/// `beside` after it.
struct HiddenPart {
    Flow flow;
    Duration beside{};

    bool any() const { return flow.latency > Duration{} || flow.bytes.count > 0; }
};

/// What a pass sends over links that others use as well, from its begin on. The pass ends no
/// earlier; what it takes where nobody disturbs it is in its duration.
struct InnerFlow {
    Bytes bytes;
    InlineVector<Link, 2> links;
};

}  // namespace debubble::sim
