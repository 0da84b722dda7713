#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "trace/profile/rank_actions.h"

namespace debubble::profile {

struct PassNames {
    std::string order;  ///< the schedule that has the order of the passes; empty if none has
    std::vector<std::string> notes;
};

/// Gives the passes that anchors showed their stages and microbatches: those of the program if it
/// has their order, else of the schedule that has it (1F1B, GPipe, interleaved 1F1B of up to 16
/// stages per rank). Where none has it, the k-th forward of a rank is that of microbatch k, and a
/// note says what does not fit. `ranks` are the pipeline ranks of `found`.
PassNames name_passes(const std::vector<RankActions*>& found, const std::vector<int>& ranks,
                      int pipeline, const std::optional<Program>& program);

}  // namespace debubble::profile
