#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/graph/graph.h"

/// FLOPs and parameters of a whole network. FLOPs are those of a sample's training step.
namespace debubble::models {

/// Model FLOPs per sample of the whole network, forward + backward, attention in
/// full (12 L h s per token; not halved for the causal mask), no recompute.
double model_flops_per_sample(const Architecture& architecture, std::int64_t seq_length);
/// The same with half of the pairs of causal attention, windows or not (Megatron-LM's
/// num_floating_point_operations in training.py since 2025).
double causal_flops_per_sample(const Architecture& architecture, std::int64_t seq_length);
/// The same with what masks and chunks leave: of causal attention's pairs s (s + 1) / 2, with a
/// window w s w - w (w - 1) / 2, in chunks each its own, and of recurrences the products of their
/// chunks.
double attended_flops_per_sample(const Architecture& architecture, std::int64_t seq_length);

// FLOPs of a training step without weight gradients, as with adapters (LoRA): two thirds of those
// of every product of weights, and all of attention and recurrences.

/// As model_flops_per_sample. The adapters' own GEMMs, some thousandths, are not counted, as
/// NVIDIA's printed MFU of such steps does not (dgxc-benchmarking, llama3/finetuning).
double frozen_model_flops_per_sample(const Architecture& model, std::int64_t seq_length);
/// As attended_flops_per_sample.
double frozen_attended_flops_per_sample(const Architecture& model, std::int64_t seq_length);

/// FLOPs of the images of a sample, forward and backward; of what is not trained, forward alone.
/// `adapters`: adapters of the language model alone are trained.
double tower_flops_per_sample(const VisionTower& tower, bool adapters);

/// Exact number of parameters of the whole network, tied tensors once.
std::int64_t parameter_count(const Architecture& architecture);
/// The number of those of its vision tower; of one that is left out too, where it is known.
std::int64_t tower_parameter_count(const Architecture& architecture);
/// The number of parameters with which one token of text is computed: all but the vision tower's
/// and those of experts that it does not go to.
std::int64_t active_parameter_count(const Architecture& architecture);
/// The parameters of the whole network on one rank, tied tensors once.
std::vector<Parameter> whole_parameters(const Architecture& architecture);
/// The buffers of the whole network.
std::vector<Buffer> whole_buffers(const Architecture& architecture);
/// The parameter names of a stage, in the order of the graph.
std::vector<std::string> parameter_names(const Architecture& architecture,
                                         const StageContent& content);

}  // namespace debubble::models
