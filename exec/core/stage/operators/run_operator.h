#pragma once

#include <string>

#include "exec/core/stage/operators/operator_call.h"
#include "exec/core/stage/operators/pairs.h"
#include "models/network/architecture.h"
#include "scenarios/plan/scenario.h"

/// Runs the code of an operator for its call in the graph.
namespace debubble::exec {

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
