#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "trace/profile/passes/rank_actions.h"

namespace debubble::profile {

struct PassNames {
    std::string order;  ///< schedule with the order of the passes; empty if there is none
    std::vector<std::string> notes;
};

/// Assigns stages and microbatches to the passes that anchors showed: those of the program if it
/// has their order, else of the schedule that has it, of up to 16 stages per rank; of several, the
/// first that also explains the transfers. Where none has it, the k-th pass of a kind of a rank is
/// that of microbatch k, and a note names the difference. Then transfers get their messages.
/// `ranks` are the pipeline ranks of `found`, `pipeline_ranks` those of global ranks.
PassNames name_passes(const std::vector<RankActions*>& found, const std::vector<int>& ranks,
                      int pipeline, const std::optional<Program>& program,
                      const std::map<int, Rank>& pipeline_ranks);

}  // namespace debubble::profile
