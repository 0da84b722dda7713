#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/graph/operator_runs.h"

/// Two operators that run one after the other and that one call of the kernels can compute
/// together, within the memory that the plan has for them apart.
namespace debubble::exec {

struct OperatorPair {
    enum class Kind : std::uint8_t {
        LinearActivation,  ///< forward: bias and GELU after a product
        /// Backward of the product that reads a GELU's result, and of the GELU in place.
        ActivationLinear,
        ResidualNorm,  ///< forward: the norm of a sum
    };
    Kind kind{};
    /// The tensor that the first call would free. It becomes the second's result, which overwrites
    /// it element by element.
    struct Reuse {
        int tensor = 0;
        int becomes = 0;
    };
    std::optional<Reuse> reuse = {};
};

/// The pair that starts at runs[at]. `drops`: this pass drops elements of residual branches.
std::optional<OperatorPair> pair_at(const models::StageGraph& graph,
                                    std::span<const models::OperatorRun> runs, std::size_t at,
                                    bool drops);

}  // namespace debubble::exec
