#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/execution/execution.h"
#include "models/network/architecture.h"
#include "scenarios/cluster/cluster.h"
#include "scenarios/cluster/reliability.h"
#include "scenarios/plan/given_keys.h"
#include "scenarios/plan/imbalance.h"
#include "scenarios/plan/rank_order.h"
#include "scenarios/plan/run_options.h"
#include "scenarios/software/framework.h"
#include "schedule/placement.h"

/// A scenario: a model, a cluster, a way to cut one over the other, a schedule and a training
/// recipe. Checked when read: a Scenario that exists is consistent, so nothing downstream checks
/// again.
namespace debubble::scenarios {

enum class Partition { Uniform, Balanced, Explicit };
enum class Wrap { Layer, Stage };  ///< the unit in which sharded parameters are gathered

/// The parallel degrees. Global rank = tp + T (cp + C (dp + D pp)) in the default order.
struct Parallel {
    RankOrder order;
    int tensor = 1;
    int pipeline = 1;
    int data = 1;
    int context = 1;
    /// The two levels of context parallelism as given, the inner one first (context_levels.h).
    std::vector<int> hierarchical_context_parallel_sizes;
    /// Every packed microbatch runs on as many of data x context ranks as its longest document
    /// needs (Megatron-Core's dynamic context parallelism); `context` is then the number without
    /// it.
    bool dynamic_context_parallel = false;
    int min_dynamic_context_parallel_size = 1;
    std::optional<std::int64_t> max_seqlen_per_dp_cp_rank;  ///< tokens (rank_capacity)
    int expert = 1;         ///< ranks that share the experts of a layer, of tensor x context x data
    int expert_tensor = 1;  ///< ranks that cut each expert; the same as `tensor` unless given
    int stages_per_rank = 1;
    bool sequence = false;  ///< sequence parallelism inside the tensor group
    int zero_stage = 0;     ///< from 0 to 3
    Partition partition = Partition::Uniform;
    std::vector<int> layers_per_stage;  ///< used if Explicit
    /// Megatron-Core's string (models/partition/partition.h) from which these come, if any.
    std::optional<std::string> layout;
    /// The stage with multi-token prediction, if a layout has it before the head's.
    std::optional<int> prediction_stage;
    Wrap wrap = Wrap::Layer;
    /// ZeRO cuts over this many of the replicas, and the others have copies (PyTorch's HSDP,
    /// Megatron-LM's --num-distributed-optimizer-instances); unset: over all of them.
    std::optional<int> shard;
    /// Gathered parameters are dropped after the forward and gathered again for the backward
    /// (FSDP2's reshard_after_forward).
    bool reshard = true;
    /// The type of gradients and sharded parameters in messages; if unset, the type they have.
    std::optional<models::DataType> communication_dtype;
    friend bool operator==(const Parallel&, const Parallel&) = default;

    int gpus() const { return tensor * pipeline * data * context; }
    int ranks_of_stage() const { return tensor * context * data; }
    /// The ranks with the same part of the same parameters: they sum gradients, and ZeRO cuts over
    /// them.
    int replicas() const { return data * context; }
    /// The replicas over which ZeRO cuts, and the copies of what is cut.
    int shards() const { return shard.value_or(replicas()); }
    int copies() const { return replicas() / shards(); }
    bool shares_gradients() const { return zero_stage >= 2 && shards() > 1; }
    /// True for ZeRO-3 whose passes gather parameters layer by layer.
    bool gathers_in_passes() const {
        return zero_stage == 3 && wrap == Wrap::Layer && shards() > 1;
    }
    int expert_replicas() const { return ranks_of_stage() / (expert * expert_tensor); }
    int expert_shards() const { return expert_replicas() / copies(); }
};

struct ScheduleChoice {
    std::string name = "1f1b";
    int slices = 1;
    /// The most live activations, in microbatches of a rank's layers: for all ranks, or for each.
    std::vector<double> memory_limits;
    std::map<std::string, std::string> options;  ///< keys that only the generator reads
    std::optional<std::string> csv;              ///< path of a file, instead of a generator
    std::optional<Placement> placement;          ///< placement of the file
    bool splits_backward = false;                ///< has I and W instead of B
    bool overlaps = false;                       ///< has pairs of a forward and a backward at once
    bool pairs_layers = false;                   ///< the layers of a pair overlap in two streams

    /// Weight gradients of a pair run apart (Megatron-Core's delay_wgrad_compute).
    bool delays_weights() const {
        const auto found = options.find("delay_wgrad");
        return pairs_layers && found != options.end() && found->second == "true";
    }
};

/// The type in which data-parallel ranks keep and gather the weights of products.
enum class ParamGather : std::uint8_t { Bf16, Fp8, Fp4 };

/// The data types of a training: 18 bytes per parameter for `bf16`, 8 for `pure-bf16`, 16 for
/// `fp32`.
struct Precision {
    models::DataType compute = models::DataType::Bf16;
    std::optional<models::DataType> main_params = models::DataType::Fp32;
    models::DataType grads = models::DataType::Fp32;
    models::DataType moments = models::DataType::Fp32;
    bool loss_scaling = false;
    /// Main gradients of the optimizer in addition to the accumulated ones: none with Megatron-LM's
    /// precision-aware optimizer, which reads the latter.
    bool main_grads = true;
    models::Recipe recipe = models::Recipe::None;  ///< of the products of layers
    ParamGather param_gather = ParamGather::Bf16;
    bool fp8_attention = false;
    /// The inputs of experts' activation functions and the attention output are kept in 8 and 12
    /// bits (models::LowPrecision::narrow_activations).
    bool fp8_activations = false;
    int bf16_first = 0;  ///< layers at the beginning whose products are in the compute type
    int bf16_last = 0;   ///< and at the end
    friend bool operator==(const Precision&, const Precision&) = default;

    /// The optimizer makes an fp32 copy of its share of gradients of another type; a
    /// precision-aware one, whose moments are of another type too, reads them as they are.
    bool converts_gradients() const {
        return main_grads && main_params && grads != models::DataType::Fp32 &&
               moments == models::DataType::Fp32;
    }
    /// Bits of the optimizer's copy that parameters in bf16 have already are not kept twice
    /// (TransformerEngine's FusedAdam, store_param_remainders).
    bool keeps_remainders() const {
        return main_params == models::DataType::Fp32 && moments != models::DataType::Fp32 &&
               compute == models::DataType::Bf16 && param_gather == ParamGather::Bf16 &&
               (recipe == models::Recipe::None || recipe == models::Recipe::Fp8Delayed);
    }
};

struct Training {
    int global_batch = 1;   ///< in samples
    int micro_batch = 1;    ///< samples of one replica
    int micro_batches = 1;  ///< per replica and step
    std::int64_t seq_length = 1;
    Precision precision;
    models::Recompute recompute = models::Recompute::None;
    models::RecomputeExtent recompute_extent;
    /// Recomputation is chosen automatically: the cheapest that fits (training.recompute: auto).
    bool chooses_recompute = false;
    models::OffloadExtent offload;
    bool chooses_offload = false;      ///< offloaded modules, too (training.offload: auto)
    std::optional<models::Lora> lora;  ///< unset: every weight is trained
    models::AttentionKernel attention = models::AttentionKernel::Flash;
    bool offload_optimizer = false;
    std::optional<double> dropout;  ///< overrides the architecture's dropout
    double expert_load = 1;  ///< rows at the experts of the fullest rank, relative to the mean of
                             ///< all ranks
    bool expert_load_unknown = false;  ///< the router learns: its load is not known
    RouterOptions routers;
    /// The factor of the loss of multi-token prediction, the mean over its depths.
    double mtp_loss_scaling_factor = 0.1;
    RunOptions run;
};

/// The value of training.recompute: "full", "{modules: [core_attn, moe_act]}".
std::string recompute_text(const Training& training);
/// The value of training.offload: "{modules: [core_attn], layers: 2}"; "none" if nothing is
/// offloaded.
std::string offload_text(const Training& training);

/// Published figures of a scenario, from those who ran it. A prediction knows nothing of it.
struct Published {
    std::string source;
    std::optional<Duration> step;  ///< of an optimizer step
    std::optional<double> tokens_per_s_per_gpu;
    std::optional<double> tflops_per_gpu;  ///< model FLOPs by the source's own formula
};

struct Scenario {
    std::string name;
    std::string description;
    std::optional<Published> published;
    models::Architecture model;
    Cluster cluster;
    int gpus = 1;  ///< GPUs in use: tensor x pipeline x data x context
    Parallel parallel;
    ScheduleChoice schedule;
    Training training;
    Framework framework;
    Imbalance imbalance;
    std::optional<Reliability> reliability;  ///< unset: nothing stops a run
    std::optional<Price> price;
    EnergyUse energy;
    GivenKeys given;                 ///< the scenario's keys before defaults were settled
    std::vector<std::string> notes;  ///< remarks that a person should know but need not act on

    /// True if any parameter is on several ranks, whose gradients are summed and which ZeRO may
    /// shard.
    bool has_replicas() const {
        return parallel.replicas() > 1 || (model.has_experts() && parallel.expert_replicas() > 1);
    }
    /// The type of gradients in messages between replicas.
    models::DataType gradients_on_the_wire() const {
        return framework.grad_reduce_dtype.value_or(
            parallel.communication_dtype.value_or(training.precision.grads));
    }
    bool sends_another_type() const {
        return framework.grad_reduce_dtype || parallel.communication_dtype;
    }
    /// The microbatches of a step, of all replicas together.
    int all_micro_batches() const { return training.micro_batches * parallel.data; }
    PipelineShape pipeline_shape() const {
        return {parallel.pipeline, parallel.stages_per_rank, training.micro_batches,
                schedule.slices};
    }
};

/// The data-parallel replicas of which each has the whole state: those that one may be lost of.
int elastic_replicas(const Scenario& scenario);

}  // namespace debubble::scenarios
