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

// Two operators that run one after the other and that one call of the kernels can compute
// together, within the memory that the plan has for them apart.

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

// Runs the code of an operator for its call in the graph.

/// The part of the network that nothing executes yet: "NAME has state-space layers"; empty if all
/// of it is executed.
std::string unexecuted_part(const models::Architecture& network);
/// Throws InputError where the network has operators that nothing executes yet.
void check_executed(const models::Architecture& network);
/// The sentence that says what 8-bit arithmetic the precision asks for; empty if it asks for none.
std::string unexecuted_part(const scenarios::Precision& precision);
/// Throws InputError where the precision asks for products or state in 8 or 4 bits.
void check_executed(const scenarios::Precision& precision);

void run_operator(const OperatorCall& call, models::Part part);

/// Runs two calls together; `part` is the first one's.
void run_pair(OperatorPair::Kind kind, const OperatorCall& first, const OperatorCall& second,
              models::Part part);

}  // namespace debubble::exec
