#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "trace/profile/formats/recorded_kernels.h"

/// What operators of PyTorch are in a table of measured kernels (scenarios/cluster/kernel_table.h).
namespace debubble::exec {

struct TableKernel {
    std::string kernel;  ///< gemm, grouped_gemm, attention_forward, attention_backward
    std::string dtype;
    nlohmann::ordered_json shape;  ///< as sim/plan/plan_kernels.h has it
};

/// A kernel, or the reason in words why there is none.
struct OperatorShape {
    std::optional<TableKernel> kernel;
    std::string missing;
};

bool is_table_operator(std::string_view name);

/// The kernel of an operator with these inputs (the arguments in the order of PyTorch's
/// native_functions.yaml). Sizes, types and strides tell products: whose first factor is stored
/// transposed is NT, whose second one is TN, neither NN. An attention is one only where its
/// arguments say whether it is causal.
OperatorShape table_shape(const profile::OperatorRuns& runs);

/// The two halves of table_shape().
bool is_product_operator(std::string_view name);
OperatorShape product_shape(const profile::OperatorRuns& runs);
bool is_attention_operator(std::string_view name);
OperatorShape attention_shape(const profile::OperatorRuns& runs);

/// "bf16", "fp16" or "fp32" for the name of a type of tensors; empty for other types.
std::string plain_type(std::string_view type);

}  // namespace debubble::exec
