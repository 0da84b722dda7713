#pragma once

#include <cstdint>

#include "models/network/architecture.h"

/// FLOPs of a training step without weight gradients, as with adapters (LoRA): two thirds of those
/// of every product of weights, and all of attention and recurrences.
namespace debubble::models {

/// As model_flops_per_sample. The adapters' own GEMMs, some thousandths, are not counted, as
/// NVIDIA's printed MFU of such steps does not (dgxc-benchmarking, llama3/finetuning).
double frozen_model_flops_per_sample(const Architecture& model, std::int64_t seq_length);
/// As attended_flops_per_sample.
double frozen_attended_flops_per_sample(const Architecture& model, std::int64_t seq_length);

}  // namespace debubble::models
