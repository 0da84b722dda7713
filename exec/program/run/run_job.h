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
#include "exec/program/run/world/launch.h"
#include "exec/program/run/world/start.h"
#include "scenarios/plan/plan.h"
#include "scenarios/plan/scenario.h"

/// A run, as all of its ranks know it before it starts.
namespace debubble::exec {

/// The options of `debubble run`.
struct RunRequest {
    std::string scenario;               ///< name or path
    std::vector<std::string> set;       ///< key=value
    std::string comm = "auto";          ///< auto, local, mpi, tcp, nccl
    std::string rendezvous;             ///< a file by which ranks over TCP meet
    std::optional<std::int64_t> steps;  ///< number of the last step
    std::string resume = "auto";        ///< auto, never, or a folder
    std::string json;                   ///< files; "-" is standard output, empty is nowhere
    std::string trace;
    std::string metrics;
    std::string device = "cpu";  ///< cpu or cuda
    std::string kernels = "auto";
    /// Threads of each rank's kernels.
    std::optional<int> threads;
    std::chrono::nanoseconds patience = std::chrono::minutes(5);  ///< patience of every wait
};

/// The highest rate at which a rank of a run could compute.
struct PeakRate {
    std::optional<double> flops_per_s;  ///< for the precision of the training; unset: not known
    /// The source of the rate, or the reason why it is not known.
    std::string source;
};

/// The peak of this machine's processor, if the scenario's cluster describes a processor: its
/// constants are then those of `gpu.threads` threads, and a rank has `threads`.
PeakRate peak_of_processor(const scenarios::Scenario& scenario, int threads);

/// The facts that all ranks of a run know before it starts. They only read them.
struct RunJob {
    RunRequest request;
    scenarios::Scenario scenario;
    scenarios::Plan plan;  ///< the very Program that `simulate` prices
    /// Empty where the order needs costs and rank 0 has not sent its Program (share_plan).
    std::string program_hash;
    TrainingOptions options;
    RankGrid grid;
    TrainingData data;
    Start start;
    std::int64_t last_step = 0;  ///< number of the last step, counting those before a resumption
    int threads = 1;             ///< threads of each rank's kernels
    PeakRate peak = {};          ///< peak rate of a rank; unset for a GPU
    ProcessPlace place = {};     ///< place of this process; a single process has all ranks
    std::optional<CudaModule> cuda = {};
    /// Predicted peak bytes by pipeline rank, if known.
    std::optional<std::vector<Bytes>> planned = {};
    /// Result of data_in_words, if it is compared or saved.
    std::optional<std::string> train_data = {};
    /// True if the cut into stages is rank 0's, which predicts it (parallel.partition: balanced).
    bool takes_cut = false;

    /// The GPU of this thread's rank; nullptr if the processor computes. All ranks call it.
    std::shared_ptr<Device> device_of(Communicator& world) const;

    /// Whether GPUs of several processes communicate by NCCL: all of them, or none. All ranks of
    /// `host` call it; `note` becomes a sentence that says why not, or stays empty.
    bool uses_nccl(Communicator& host, std::string& note) const;
    /// The communicator of GPUs' memory over the processes of `host`, by NCCL.
    std::unique_ptr<Communicator> connect_devices(Communicator& host, DeviceLanes& lanes) const;

    std::vector<int> layers_of_stages() const;

    /// The predicted peak bytes of a global rank; unset: not known.
    Bytes planned_of(int rank) const;

    /// The cores of this host for each thread of the ranks that it has, at most 1.
    double cores_per_thread() const;

    /// Seconds that a step would take if all ranks computed at their peak rate.
    std::optional<double> step_s_at_peak() const;
    /// The first of the global ranks that compute the loss.
    int loss_rank() const;
};

}  // namespace debubble::exec
