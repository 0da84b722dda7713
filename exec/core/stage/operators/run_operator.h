#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "exec/core/stage/operators/operator_call.h"
#include "models/graph/operator_runs.h"
#include "models/network/architecture.h"
#include "scenarios/plan/scenario.h"

/// Runs the code of an operator, or of two neighbours at once, for its call in the graph.
namespace debubble::exec {

// Two neighbouring operators that one call of the kernels can compute, within the memory that the
// graph plans for them separately.

struct OperatorPair {
    enum class Kind : std::uint8_t {
        LinearActivation,  ///< forward: bias and GELU after a GEMM
        /// Backward of the GEMM that reads a GELU's result, and of the GELU, in place.
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

/// The pair that starts at runs[at]. `drops`: this pass has dropout on residual branches.
std::optional<OperatorPair> pair_at(const models::StageGraph& graph,
                                    std::span<const models::OperatorRun> runs, std::size_t at,
                                    bool drops);

// Runs the code of an operator for its call in the graph.

/// The part of the network that cannot be executed yet: "NAME has state-space layers"; empty if
/// there is none.
std::string unsupported_part(const models::Architecture& network);
/// Throws InputError where the network has operators that cannot be executed yet.
void check_supported(const models::Architecture& network);
/// A sentence about the 8-bit arithmetic that the precision asks for; empty if it asks for none.
std::string unsupported_part(const scenarios::Precision& precision);
/// Throws InputError where the precision asks for GEMMs or state in 8 or 4 bits.
void check_supported(const scenarios::Precision& precision);

void run_operator(const OperatorCall& call, models::Part part);

/// Runs two calls together; `part` is the first one's.
void run_pair(OperatorPair::Kind kind, const OperatorCall& first, const OperatorCall& second,
              models::Part part);

}  // namespace debubble::exec
