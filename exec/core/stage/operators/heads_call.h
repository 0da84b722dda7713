#pragma once

#include "exec/core/stage/operators/seen_keys.h"

/// Queries, keys and values as the operators around attention find them. They lie one after the
/// other in the tensor that a split leaves, or side by side in the packed product; where the
/// sequence is sliced, every slice has a tensor of its own for keys and values. Private to the
/// folder.
namespace debubble::exec {

Heads extents_of(const OperatorCall& call, const op::Heads& roles);

struct QueryKeyValue {
    TensorView q;
    KeysAndValues kv;
};

enum class Of { Values, Gradients };

/// Queries, keys and values, or their gradients, in their tensors.
QueryKeyValue parts_of(const OperatorCall& call, const op::Heads& roles, Of which,
                       const Heads& heads);

}  // namespace debubble::exec
