#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "text/document.h"
#include "text/fields.h"
#include "text/shipped_files.h"

/// What turns a step into a run of weeks: how often machines and software stop a job, what a stop
/// costs, how it saves, and what hours and power cost. Spans of time are seconds. Nothing of it
/// changes the prediction of a step.
namespace debubble::scenarios {

/// From a stop that was noticed to running steps.
struct RestartTimes {
    double scheduler_s = 0;  ///< until the job has its machines
    double start_s = 0;      ///< processes, communicators, compilation
    /// Reading the checkpoint; unset: its bytes by the bandwidth of reading.
    std::optional<double> load_s;
    friend bool operator==(const RestartTimes&, const RestartTimes&) = default;
};

struct CheckpointPolicy {
    std::optional<double> every_s;  ///< work between two saves; unset: what loses least
    /// Steps wait for the copy to the host's memory alone, from where it is written beside them.
    bool async = false;
    /// Of the storage, to the whole job. Unset: kStorageWrite and kStorageRead for each machine.
    std::optional<BytesPerSecond> write_bandwidth;
    std::optional<BytesPerSecond> read_bandwidth;
    /// Seconds of each write beside its bytes. Unset: none, and kWriteLatency of an asynchronous
    /// one.
    std::optional<double> latency_s;
    std::optional<double> pause_s;  ///< a measured one, instead of what bytes and rates make
    /// A copy stays in the memories of hosts, and another one in a neighbour's.
    bool keep_in_memory = false;
    friend bool operator==(const CheckpointPolicy&, const CheckpointPolicy&) = default;
};
/// Bytes per second of a machine of 8 GPUs. Written: 2 TB/s for some 3,000 machines of Llama 3's
/// cluster (arXiv:2407.21783, section 3.3.1) and 40 GB/s for 63 (arXiv:2605.09370) are 0.63 to 0.67
/// GB/s; read: 150 GB/s for these 63.
inline constexpr BytesPerSecond kStorageWrite{0.65e9};
inline constexpr BytesPerSecond kStorageRead{2.4e9};
/// Seconds that a write in the background takes beside its bytes, to plan, make files and wait for
/// all ranks. A fit: ByteCheckpoint saves 98 GB from 186 machines in 20.1 s and 5.67 TB from 1,120
/// in 51.1 s (arXiv:2407.20143, table 8), which are 16.5 s and 0.146 GB/s of each machine.
/// Synchronous saves leave no room for it: BLOOM's take 40 s for all of 2.3 TB.
inline constexpr double kWriteLatency = 16.5;
/// Saves that a host's memory holds with keep_in_memory: the last complete one and the one that
/// replaces it, each with that of a neighbour.
inline constexpr int kSavesInMemory = 4;

struct SlowRankRate {
    double per_gpu_year = 0;
    double factor = 1.1;
    double detect_s = 3600;
    friend bool operator==(const SlowRankRate&, const SlowRankRate&) = default;
};

struct PlannedMaintenance {
    double every_s = 0;
    double takes_s = 0;
    friend bool operator==(const PlannedMaintenance&, const PlannedMaintenance&) = default;
};

/// Defaults: nothing fails. A stop is noticed within MegaScale's 10 minutes (arXiv:2402.15627,
/// section 6.3), in the mean after half of them, and a job is killed and queued again in 454 to 768
/// s on 2,048 to 16,384 GPUs (ByteRobust, arXiv:2509.16293, table 7).
struct Reliability {
    std::string name;
    double failures_per_gpu_year = 0;
    double failures_per_host_year = 0;  ///< of what a machine has besides its GPUs
    double failures_per_switch_year = 0;
    int hosts_per_switch = 32;
    double failures_per_job_day = 0;  ///< of software: their rate does not grow with the job
    double detect_s = 300;
    RestartTimes restart{600, 0, 0.0};
    CheckpointPolicy checkpoint;
    std::optional<int> spares;  ///< machines; unset: a replacement is always there
    double repair_s = 14400;
    bool elastic = false;
    double stall_s = 180;  ///< of the replicas that go on (FT-HSDP, arXiv:2602.00277)
    std::optional<SlowRankRate> slow_rank;
    std::optional<PlannedMaintenance> maintenance;
    int draws = 200;
    std::int64_t seed = 1;
    friend bool operator==(const Reliability&, const Reliability&) = default;
};

struct Scenario;
/// Bytes of a checkpoint: parameters in the type that kernels read, and the optimizer's copy and
/// moments, once for all replicas; 14 a parameter with bf16 and Adam, as BLOOM's 2.3 TiB
/// (bigscience, train/tr11-176B-ml). Where adapters alone are trained it is too much: that of the
/// whole model.
Bytes checkpoint_bytes(const Scenario& scenario, std::int64_t parameters);

/// The forms of the key `reliability`, of a scenario and of a cluster.
std::vector<text::Form> reliability_forms();
/// What a word, a path or a map under the key `reliability` says, all of it where it has a `base`.
/// Adds its mistakes, and keeps defaults for what is wrong.
Reliability read_reliability(const text::NodePtr& value, text::ShippedFiles& shipped,
                             text::Mistakes& mistakes);

struct Price {
    double gpu_hour = 0;
    std::string currency;  ///< "USD"
    friend bool operator==(const Price&, const Price&) = default;
};

/// How power becomes energy. A machine that trains takes `busy` of its maximum: 8.4 of 10.2 kW, in
/// training on eight H100 (arXiv:2412.08602); one that waits `idle`, as the dips of OLMo's machines
/// (arXiv:2503.05804).
struct EnergyUse {
    double busy = 0.82;
    double idle = 0.15;
    double pue = 1;                     ///< power of the site over that of its machines
    std::optional<double> co2_per_kwh;  ///< kg
    friend bool operator==(const EnergyUse&, const EnergyUse&) = default;
};

}  // namespace debubble::scenarios
