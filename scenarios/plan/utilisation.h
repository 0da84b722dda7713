#pragma once

#include <optional>

#include "scenarios/plan/scenario.h"

/// The use that a training makes of the peak rate of its devices.
namespace debubble::scenarios {

/// The FLOPs of a step by which the scenario's software prints its rate.
double printed_flops_per_step(const Scenario& scenario);
/// The FLOPs of the whole job: no recompute, attention in full; beside adapters without gradients
/// of the frozen weights.
double model_flops_per_step(const Scenario& scenario);
/// The share of them that masks and chunks leave to compute (models::attended_flops_per_sample);
/// more than 1 where Megatron-LM's count of a recurrent layer is smaller than what its chunks do.
double attended_share(const Scenario& scenario);
/// The FLOPs of recompute, as a share of the model's FLOPs.
double recomputed_share(const Scenario& scenario);
/// The peak of one device of the cluster in the precision of the training: of the type of the
/// layers' products where they are in 8 or 4 bits, as NVIDIA's printed MFU of such steps has it
/// (dgxc-benchmarking, llama3.1/README.md). Nothing if it is unknown.
std::optional<double> peak_flops_per_s(const Scenario& scenario);

}  // namespace debubble::scenarios
