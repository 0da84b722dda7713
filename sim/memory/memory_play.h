#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/memory/bytes_of_tensors.h"
#include "sim/memory/played_memory.h"
#include "sim/memory/rank_ledger.h"

namespace debubble::sim {

/// Plays the passes of a rank, allocation by allocation, in the order of its list through the
/// framework's allocator: buffers of messages, passes, gathered parameters, offloaded tensors,
/// optimizer step. A send's buffer and offloaded tensors are freed when the compute after them has
/// ended. Only the part of the step up to its fullest moment, and a little more, is played.
///
/// It is what a device holds on which messages and copies take no longer than computes. Where
/// `rows` says how many rows have come, it is the memory of the step that they came in, and all of
/// it is played.
PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& stages, const Program& program,
                         Rank rank, std::size_t largest = 10, const RowsThatCame& rows = {});

/// The same in the order of time of a rank whose actions take these times.
PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& stages, const Program& program,
                         Rank rank, std::span<const ActionTimes> times);

/// The same with all tensors of the fullest moment, each with what frees it: all of the step is
/// played.
PlayedMemory tensors_at_peak(const scenarios::Scenario& scenario,
                             const std::vector<models::StageContent>& stages,
                             const Program& program, Rank rank, std::span<const ActionTimes> times);

/// The PlayedMemory::peak_reserved of every rank whose actions take these times, by rank: no less
/// than the greatest level of its ledger (rank_ledger.h), whose events these are. Where `bytes`
/// says how large tensors are, all of the step is played.
std::vector<Bytes> play_reserved(const scenarios::Scenario& scenario,
                                 const std::vector<models::StageContent>& stages,
                                 const Program& program,
                                 const std::vector<std::vector<ActionTimes>>& times,
                                 const std::stop_token& stop = {},
                                 const BytesOfTensors& bytes = {});

}  // namespace debubble::sim
