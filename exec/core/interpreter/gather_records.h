#pragma once

#include <chrono>
#include <vector>

#include "exec/core/interpreter/step_record.h"

namespace debubble::exec {

struct GatheredRecords {
    std::vector<StepRecord> records;  ///< by global rank, on rank 0's clock; elsewhere empty
    ClockError clock_error;           ///< left between the hosts, and beside their devices
};

/// Collective over all ranks of `world`: brings what each of them recorded to rank 0.
GatheredRecords gather_records(Communicator& world, const StepRecord& mine,
                               std::chrono::nanoseconds patience);

}  // namespace debubble::exec
