#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/visits.h"

/// Calls of two neighbouring operators that one call of the kernels can make together, within the
/// memory that the plan has for them apart.
namespace debubble::exec {

struct VisitPair {
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

/// The pair that starts at visits[at]. `drops`: this pass drops elements of residual branches.
std::optional<VisitPair> pair_at(const models::StageGraph& graph,
                                 std::span<const models::Visit> visits, std::size_t at, bool drops);

}  // namespace debubble::exec
