#pragma once

#include <cstdint>

#include "base/inline_vector.h"
#include "base/units.h"

/// Communication as bytes over links.
namespace debubble::sim {

/// One direction of a resource that flows share max-min fairly: an index into CostModel::links().
using Link = std::int32_t;

/// Bytes that cross all of the links simultaneously.
struct LinkBytes {
    Bytes bytes;
    InlineVector<Link, 4> links;
};

/// A communication: `latency` first, then `bytes` over all its links simultaneously. A collective
/// through several tiers of the network occupies the links of each of them, each for its own bytes:
/// those of the slowest tier are `bytes`, the others `also`. They begin together, and the flow ends
/// when all have arrived. A flow without links takes exactly its latency.
struct Flow {
    Duration latency{};
    Bytes bytes;
    InlineVector<Link, 4> links;
    Bytes payload;  ///< the tensor's size, for the trace
    InlineVector<LinkBytes, 2> also;
};

/// The part of a collective that overlaps a compute. It begins `overlap` before the end of the
/// backward whose gradients it reduces; the forward that reads the gathered parameters ends no
/// earlier than `overlap` after it.
struct HiddenPart {
    Flow flow;
    Duration overlap{};

    bool any() const { return flow.latency > Duration{} || flow.bytes.count > 0; }
};

/// The bytes that a pass sends over links with contention, from its start on. The pass ends no
/// earlier than the flow; its time without contention is part of the pass's duration.
struct InnerFlow {
    Bytes bytes;
    InlineVector<Link, 2> links;
};

}  // namespace debubble::sim
