#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/profile/passes/found_pass.h"

namespace debubble::profile {

/// Backward passes with delayed weight gradients.
struct SplitBackwards {
    std::size_t inputs = 0;   ///< number of passes that are a BackwardInput
    std::size_t weights = 0;  ///< number of passes that are a BackwardWeight
    std::string note;         ///< a sentence, where a split backward cannot be recognised; else
                              ///< empty
};

/// Separates backwards without weight-gradient GEMMs from those with them, and adds the passes of
/// the delayed ones: consecutive weight-gradient GEMMs without attention and without other GEMMs in
/// between. Names identify them (cuBLAS: not transposed times transposed), else their position
/// between two attentions of no pass. `passes` are by first anchor, before and after; forwards and
/// backwards have `layers` anchors each.
SplitBackwards split_backwards(const StepItems& step, std::size_t layers,
                               std::vector<FoundPass>& passes);

}  // namespace debubble::profile
