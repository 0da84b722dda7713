#pragma once

#include <cstddef>

#include "trace/trace.h"

namespace debubble {

/// The hidden all-to-alls of a trace's pairs: the parts of each rank, summed.
struct PairExchange {
    std::size_t pairs = 0;
    Duration exchange{};            ///< all-to-alls of both passes
    Duration hidden{};              ///< part of it during which the rank computes
    Duration hidden_under_gemms{};  ///< part of `hidden` during which GEMMs or attention run
};

/// Zero where no pair's layers alternate, or where the trace has no parts.
PairExchange exchange_of_pairs(const Trace& trace);

}  // namespace debubble
