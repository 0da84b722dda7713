#pragma once

#include "scenarios/plan/scenario.h"
#include "sim/plan/prediction.h"

/// From the prediction of a step to the whole training.
namespace debubble::sim {

using scenarios::checkpoint_bytes;

/// A checkpoint on its way, in bytes, seconds and bytes per second.
struct CheckpointTraffic {
    double whole = 0;     ///< bytes, once for all replicas
    double rank = 0;      ///< of the fullest one, which writes its part
    double machine = 0;   ///< of the fullest one
    double adapters = 0;  ///< of a machine
    double host_link = 0;
    double write_s = 0;  ///< until the storage has it
    double load_s = 0;   ///< until all ranks have read it
    double exposed = 0;  ///< share of a step in which it waits for messages between machines
};

/// The job with what stops it, and the intervals of its saves. Precondition: its step, steps and
/// machines are set.
RunJob with_reliability(RunJob job, const scenarios::Reliability& reliability, int gpus,
                        int elastic_replicas, const CheckpointTraffic& traffic);

/// The job that a plan is for months, with the intervals of its saves. Bytes are shared evenly by
/// the ranks of a stage, each of which copies and writes its part; a write takes what the storage
/// or the fullest machine's adapters take. While an asynchronous one is written, it has the
/// adapters in part, and the exposed communication between machines is as much slower.
/// Precondition: training.tokens is given, and the step is known.
RunJob run_job_of(const scenarios::Scenario& scenario, const Prediction& prediction);

/// Sets Prediction::run where training.tokens is given; by the anchored step where there is one.
void plan_run(const scenarios::Scenario& scenario, Prediction& prediction);

}  // namespace debubble::sim
