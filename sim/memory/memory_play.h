#pragma once

#include <stop_token>
#include <vector>

#include "models/graph.h"
#include "scenarios/scenario.h"
#include "schedule/schedule.h"
#include "sim/memory/played_memory.h"
#include "sim/memory/rows_that_came.h"

namespace debubble::sim {

/// Plays the passes of a rank, allocation by allocation, in its own order through the framework's
/// allocator: buffers of messages, passes, gathered parameters, offloaded tensors, optimizer step.
/// A send's buffer and offloaded tensors are freed when the compute after them has ended. Only the
/// part of the step up to its fullest moment, and a little more, is played.
///
/// Slower than the simulator's summed peaks, which it equals for the exact allocator. Where `rows`
/// says how many rows have come, it is the memory of the step that they came in, and all of it is
/// played.
PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& stages, const Program& program,
                         Rank rank, std::size_t largest = 10, const RowsThatCame& rows = {});

/// Only PlayedMemory::peak_reserved, of every rank, which is faster.
std::vector<Bytes> play_reserved(const scenarios::Scenario& scenario,
                                 const std::vector<models::StageContent>& stages,
                                 const Program& program, const std::stop_token& stop = {});

}  // namespace debubble::sim
