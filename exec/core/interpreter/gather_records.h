#pragma once

#include <chrono>
#include <vector>

#include "exec/core/interpreter/step_record.h"

namespace debubble::exec {

struct GatheredRecords {
    std::vector<StepRecord> records;  ///< by global rank, on rank 0's clock; empty on other ranks
    /// The error that remains between hosts and between hosts and devices.
    ClockError clock_error;
};

/// Brings the records of all ranks to rank 0; a collective over all ranks of `world`.
GatheredRecords gather_records(Communicator& world, const StepRecord& mine,
                               std::chrono::nanoseconds patience);

}  // namespace debubble::exec
