#pragma once

#include <vector>

#include "trace/profile/passes/found_pass.h"

namespace debubble::profile {

/// Sets the items from which every pass begins and to which it goes. A pass begins after an
/// exchange for which nothing else ran; a backward after the loss, and a forward at the embedding;
/// after a pause that is longer than any inside a pass; with the kernels with which others of its
/// kind begin, or after those with which others of the kind before it end; else after the longest
/// pause.
void bound(const StepItems& step, std::vector<FoundPass>& passes);

}  // namespace debubble::profile
