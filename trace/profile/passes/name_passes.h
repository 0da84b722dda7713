#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "trace/profile/passes/rank_actions.h"

namespace debubble::profile {

struct PassNames {
    std::string order;  ///< the schedule that has the order of the passes; empty if none has
    std::vector<std::string> notes;
};

/// Gives the passes that anchors showed their stages and microbatches: those of the program if it
/// has their order, else of the schedule that has it, of up to 16 stages per rank; of several, the
/// first that exchanges fit too. Where none has it, the k-th pass of a kind of a rank is that of
/// microbatch k, and a note says what does not fit. Then exchanges get their messages. `ranks` are
/// the pipeline ranks of `found`, `pipeline_ranks` those of global ranks.
PassNames name_passes(const std::vector<RankActions*>& found, const std::vector<int>& ranks,
                      int pipeline, const std::optional<Program>& program,
                      const std::map<int, Rank>& pipeline_ranks);

}  // namespace debubble::profile
