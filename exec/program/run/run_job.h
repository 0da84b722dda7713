#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/communicator/rank_grid.h"
#include "exec/cuda/load_module.h"
#include "exec/io/data/training_data.h"
#include "exec/program/run/launch.h"
#include "exec/program/run/peak_rate.h"
#include "exec/program/run/run_request.h"
#include "exec/program/run/start.h"
#include "scenarios/plan.h"

namespace debubble::exec {

/// What all ranks of a run know before it begins. They only read it.
struct RunJob {
    RunRequest request;
    scenarios::Scenario scenario;
    scenarios::Plan plan;  ///< the very Program that `simulate` prices
    /// Empty where the order needs costs and rank 0 has not told its Program (share_plan.h).
    std::string program_hash;
    TrainingOptions options;
    RankGrid grid;
    TrainingData data;
    Start start;
    std::int64_t last_step = 0;  ///< steps in all, those before a resumption too
    int threads = 1;             ///< of each rank's kernels
    PeakRate peak = {};          ///< of a rank; unset of a GPU
    ProcessPlace place = {};     ///< of this process; one alone has all ranks
    std::optional<CudaModule> cuda = {};
    std::vector<Bytes> planned = {};  ///< by pipeline rank, at its fullest; empty: not known
    std::string train_data = {};      ///< data_in_words; empty where nobody compares or saves it

    /// The GPU of the rank that this thread has; none where the processor computes. All ranks ask.
    std::shared_ptr<Device> device_of(Communicator& world) const;

    /// Whether GPUs of several processes are to communicate by NCCL: all of them, or none. All
    /// ranks of `host` ask; `note`, which may be a sentence for a person, says why not.
    bool uses_nccl(Communicator& host, std::string& note) const;
    /// The communicator of GPUs' memory over the processes of `host`, by NCCL.
    std::unique_ptr<Communicator> connect_devices(Communicator& host, DeviceLanes& lanes) const;

    /// Of the global rank, at its fullest; unset: not known.
    Bytes planned_of(int rank) const;

    /// Seconds that a step would take if all ranks computed at their peak rate.
    std::optional<double> step_s_at_peak() const;
    /// The first of the global ranks that see the loss.
    int loss_rank() const;
};

}  // namespace debubble::exec
