#pragma once

#include <string_view>

#include "exec/core/communicator/communicator.h"
#include "exec/core/kernels.h"
#include "exec/core/training/unit_state.h"

/// A unit's gradients on their way to the sum over the ranks that share it.
namespace debubble::exec {

struct UnitReduction {
    UnitState* unit = nullptr;
    ArenaTensor wire;  ///< where they travel in another type
    TensorView sent;
    Pending request;
};

/// Sums the whole gradients of a unit: scattered, so that each rank has what it owns, or on all
/// ranks. They are rounded to the policy's type on the wire; sums are made in fp32 at least.
UnitReduction begin_reduction(UnitState& unit, const StatePolicy& policy, Communicator& group,
                              bool scatter, Kernels& kernels, Arena& arena, std::string_view label);

/// Once the request is through: what is held has the sum. Where gradients are cut, the rank's
/// share has it added, and the whole gradients are dropped.
void finish_reduction(UnitReduction& reduction, const StatePolicy& policy, Kernels& kernels);

}  // namespace debubble::exec
