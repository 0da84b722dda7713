#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/profile/passes/found_pass.h"

namespace debubble::profile {

/// What was found about backward passes that leave the gradients of weights for later.
struct SplitBackwards {
    std::size_t inputs = 0;   ///< passes that are a BackwardInput
    std::size_t weights = 0;  ///< of BackwardWeight
    std::string note;         ///< a sentence, where a split backward cannot be told; else empty
};

/// Tells the backwards that hold no products of weights' gradients from those that do, and adds the
/// passes in which these run: products of weights' gradients one after another, without attention
/// and without other products between. Names tell them (cuBLAS: not transposed times transposed),
/// else that they occur between two attentions of no pass. `passes` are by first anchor, before and
/// after; forwards and backwards have `layers` anchors each.
SplitBackwards split_backwards(const StepItems& step, std::size_t layers,
                               std::vector<FoundPass>& passes);

}  // namespace debubble::profile
