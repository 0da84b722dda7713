#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "trace/profile/passes/rank_actions.h"

namespace debubble::profile {

struct PassNames {
    std::optional<std::string> order;  ///< schedule with the order of the passes
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

/// Gives the transfers of a rank, whose passes have their stages and microbatches, the messages
/// that they carry. Where the profiler records the peers of sends and receives, the k-th send to a
/// rank is the k-th result that `order` has for it. Else, with one stage per rank and whole
/// backwards, a transfer between two passes carries what the first one sends and the second one
/// receives; with several stages or split backwards, a result is in the first transfer that begins
/// after its pass, and an input in the last one that ends before its pass: if that does not explain
/// every transfer, none gets a message, and a note says so. `pipeline_ranks` are those of global
/// ranks.
void name_messages(RankActions& found, Rank rank, const Schedule& order,
                   const std::map<int, Rank>& pipeline_ranks);

}  // namespace debubble::profile
