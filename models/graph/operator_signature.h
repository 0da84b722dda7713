#pragma once

#include <string>
#include <string_view>

#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"

/// The key of a measured operator.
namespace debubble::models {

/// Kind, data types and sizes of an operator, as in
///   "linear fp32/fp32 gemm 1x512x768x256 parameters 256x768+768":
/// equal for all operators that compute the same, in every layer, stage and scenario,
/// and different where the executor would do other work. One line of ASCII without quotes.
std::string signature_of(const StageGraph& graph, const Operator& op);

/// The part's name in calibrated clusters: forward, recompute, backward, backward_input,
/// backward_weight.
std::string_view name_of(Part part);

}  // namespace debubble::models
