#pragma once

#include <cstdint>

#include "models/execution/execution.h"
#include "models/network/architecture.h"

namespace debubble::models {

/// The tokens of each expert on the most loaded rank of a layer, as a function of its load
/// (Execution::expert_load). Bytes of tensors of rows are linear in them.
struct ExpertRows {
    std::int64_t routed = 0;     ///< rows that a rank's own tokens make
    std::int64_t on_rank = 1;    ///< experts of a rank
    std::int64_t ranks = 1;      ///< that share the experts
    std::int64_t per_token = 1;  ///< experts of a token
    std::int64_t cuts = 1;       ///< ranks that cut each expert
    std::int64_t multiple = 1;   ///< of which rows are filled up

    std::int64_t at(double load) const;
};

/// Precondition: the layer has experts, and sizes_of (stage_sizes.h) accepts the network.
ExpertRows expert_rows_of(const Architecture& architecture, const Execution& execution, int layer);

}  // namespace debubble::models
