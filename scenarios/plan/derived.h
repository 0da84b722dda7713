#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "models/execution/execution.h"
#include "scenarios/plan/scenario.h"
#include "schedule/generators/generator_options.h"

/// Values that follow from a scenario: how its passes are executed, the options of its generator,
/// the levels of context parallelism, limits of prefetching, memory and FLOPs.
namespace debubble::scenarios {

/// The Execution of a scenario's passes. This is the one place where training recipe, framework
/// profile and parallelism become an Execution. The simulator prices its graphs, the executor runs
/// them.
models::Execution execution_of(const Scenario& scenario);

/// Whether the network, the recipe and the GPU have the fused kernels of experts, which are those
/// of gated activations (Framework::fused_experts).
bool may_fuse_experts(const Scenario& scenario);
bool fuses_experts(const Scenario& scenario);

/// True if the ranks' graphs say what a backward-input frees (`mem_b: graph`).
bool frees_by_graph(const ScheduleChoice& choice);
/// The options of a scenario's generator, with unit costs: code that knows the times of passes sets
/// them, and code that knows the graphs says what they free.
GeneratorOptions generator_options_of(const ScheduleChoice& choice);

// The two levels of context parallelism (Megatron-LM's --hierarchical-context-parallel-sizes).

/// Neighbours in the context group use all-to-all (`inner`), and keys and values are passed around
/// the groups of such neighbours (`outer`). inner x outer = context.
struct ContextLevels {
    int inner = 1;
    int outer = 1;
    friend bool operator==(const ContextLevels&, const ContextLevels&) = default;
};

/// The sizes that the scenario gives; if it gives none, `inner` is the most neighbours that divide
/// the context group and a node (or NVLink domain) alike, so that no all-to-all leaves one.
/// Precondition: given sizes multiply to `context`, and `cluster.gpus_per_node` is settled.
ContextLevels context_levels(const Scenario& scenario);

/// The limits of a plan, each with a value: DeepSpeed's default where the framework gives another.
struct GatherLimits {
    std::int64_t prefetch = 50'000'000;       ///< prefetched at each operator
    std::int64_t live = 1'000'000'000;        ///< gathered, beyond which nothing is prefetched
    std::int64_t reuse = 1'000'000'000;       ///< passed until a parameter is used again, which is
                                              ///< kept if there are fewer
    std::int64_t parameter = 100'000;         ///< of a parameter that stays whole
    std::int64_t persistent = kMostElements;  ///< of all parameters that stay whole
    friend bool operator==(const GatherLimits&, const GatherLimits&) = default;
};

/// The same as a framework gives them, each with its value.
Stage3Limits given(const GatherLimits& limits);

/// Set where a plan's passes gather within DeepSpeed's limits: ZeRO-3 that gathers in its passes
/// and drops what it has gathered, without a pipeline and without slices of sequences, neither of
/// which DeepSpeed has with ZeRO-3.
std::optional<GatherLimits> gather_limits(const Scenario& scenario);

/// The part of a device's memory that no allocator gets: the framework's headroom on a GPU, nothing
/// on a processor, whose ranks are threads or processes of one machine.
Bytes headroom_of(const Scenario& scenario);

/// The part of a device's memory that an allocator can have. Never below zero.
Bytes room_of(const Scenario& scenario);

// The use that a training makes of the peak rate of its devices.

/// The FLOPs of a step by which the scenario's software prints its rate.
double printed_flops_per_step(const Scenario& scenario);
/// The FLOPs of the whole job: no recompute, attention in full; with adapters, without gradients of
/// the frozen weights.
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
