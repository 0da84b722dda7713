#pragma once

#include <vector>

#include "trace/profile/passes/found_pass.h"

namespace debubble::profile {

/// Sets the first and the last item of every pass. A pass begins after a transfer during which
/// nothing else ran; a backward after the loss, and a forward at the embedding; after a pause that
/// is longer than any inside a pass; with the kernels with which others of its kind begin, or after
/// those with which others of the preceding kind end; else after the longest pause.
void bound(const StepItems& step, std::vector<FoundPass>& passes);

}  // namespace debubble::profile
