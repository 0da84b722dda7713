#pragma once

#include <string_view>

#include "exec/core/communicator/communicator.h"
#include "exec/core/kernels.h"
#include "exec/core/training/state/unit_state.h"

/// A unit's gradients on their way to their sum over the ranks that share it.
namespace debubble::exec {

struct UnitReduction {
    UnitState* unit = nullptr;
    ArenaTensor wire;  ///< the gradients in another type, if they are sent in one
    TensorView sent;
    Pending request;
};

/// Starts the sum of the whole gradients of a unit: scattered, so that each rank has the sum of its
/// share, or on all ranks. They are sent in the type of the unit's policy; sums are made in fp32 at
/// least.
UnitReduction begin_reduction(UnitState& unit, Communicator& group, bool scatter, Kernels& kernels,
                              Arena& arena, std::string_view label);

/// Completes a reduction once its request is done: the gradients that are held become the sum.
/// Where gradients are sharded, it is added to the rank's share, and the whole gradients are
/// dropped.
void finish_reduction(UnitReduction& reduction, Kernels& kernels);

}  // namespace debubble::exec
