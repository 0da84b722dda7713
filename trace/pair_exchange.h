#pragma once

#include <cstddef>

#include "trace/trace.h"

namespace debubble {

/// What the pairs of a trace hide of their own exchanges: the parts of each rank, added up.
struct PairExchange {
    std::size_t pairs = 0;
    Duration exchange{};         ///< the exchanges of both passes
    Duration hidden{};           ///< that part of them during which the rank computes
    Duration beside_products{};  ///< that part of `hidden` during which products or attention run
};

/// Zero where no pair's layers take turns, or where the trace has no parts.
PairExchange exchange_of_pairs(const Trace& trace);

}  // namespace debubble
