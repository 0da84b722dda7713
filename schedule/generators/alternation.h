#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"

/// The common part of the 1F1B family: a warm-up of forwards, then one forward and one backward in
/// turn, then the backwards that are left.
namespace debubble {

/// A pass of one rank whose direction follows from the list it is in.
struct Turn {
    int stage = 0;
    MicroBatch micro_batch;
};

/// One rank's share of such a schedule.
struct Alternation {
    std::vector<Turn> forwards;   ///< in order
    std::vector<Turn> backwards;  ///< in order, as many as forwards
    int warm_up = 0;              ///< forwards before the first pair; a number above theirs means
                                  ///< all
    /// Splits the backwards: I in its turn, followed by the W of the backward this many turns
    /// before. Every turn of delay holds one more activation and moves one more W into the drain,
    /// where it fills a bubble.
    std::optional<int> weight_delay = {};
};

/// Appends the alternation to the rank's list.
void write(const Alternation& alternation, ActionList& actions);

/// The forwards of a looped placement: a group of microbatches passes the rank's
/// first chunk, then its second, ...; then the next group comes. The last group
/// may be shorter. `looped_backwards` is the same with the last chunk first.
std::vector<Turn> looped_forwards(const PipelineShape& shape, int rank, int group);
std::vector<Turn> looped_backwards(const PipelineShape& shape, int rank, int group);

/// PyTorch's groups: as many as whole groups of p fit into m, all of the same size. The second
/// function says why that is impossible.
int pytorch_group(const PipelineShape& shape);
std::optional<std::string> pytorch_group_reason(const PipelineShape& shape);

/// `micro_batches` rounded up to whole groups. From a schedule written for that shape the passes of
/// the microbatches that do not exist are removed. The others keep their order, so a schedule
/// without deadlock stays without.
PipelineShape padded_to_groups(PipelineShape shape, int group);
Schedule without_missing(Schedule padded, int micro_batches);

}  // namespace debubble
