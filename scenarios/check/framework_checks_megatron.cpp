#include <algorithm>

#include <fmt/format.h>

#include "scenarios/check/framework_checks.h"

/// Megatron-LM's rules about sizes, the pipeline's cut and its schedule.
namespace debubble::scenarios {
namespace {

constexpr std::string_view kArguments = "megatron/training/arguments.py, validate_args";
constexpr std::string_view kConfig =
    "megatron/core/transformer/transformer_config.py, TransformerConfig.__post_init__";
constexpr std::string_view kInterleaving =
    "megatron/core/pipeline_parallel/schedules.py, forward_backward_pipelining_with_interleaving";
constexpr std::string_view kLayers =
    "megatron/core/transformer/transformer_block.py, get_num_layers_to_build";
constexpr std::string_view kFlex =
    "megatron/core/transformer/moe/token_dispatcher.py, MoEFlexTokenDispatcher.__init__";

void check_sizes(const Scenario& scenario, Refusals& refusals) {
    const Parallel& parallel = scenario.parallel;
    const models::Architecture& model = scenario.model;
    for (const models::Layer& layer : model.layers.kinds()) {
        if (const auto* net = layer.as<models::DeltaNet>()) {
            const std::int64_t ranks = std::int64_t{parallel.tensor} * parallel.context;
            refusals.add(
                net->key_heads % ranks != 0 || net->value_heads % ranks != 0, kConfig,
                fmt::format("{} key heads and {} value heads of a gated delta net are not "
                            "multiples of tensor {} x context {}",
                            net->key_heads, net->value_heads, parallel.tensor, parallel.context));
            break;
        }
    }
    const std::int64_t tokens = scenario.training.seq_length;
    refusals.add(tokens > model.max_positions, kArguments,
                 fmt::format("a sample of {} tokens exceeds the model's {} positions", tokens,
                             model.max_positions));
    refusals.add(scenario.framework.tensor_overlap && parallel.tensor > 1 && !parallel.sequence,
                 kArguments, "--tp-comm-overlap needs --sequence-parallel, which is off");
    refusals.add(model.mtp_layers > 0 && model.learned_positions, kArguments,
                 "multi-token prediction needs RoPE or no positions, but they are learned");
}

/// Layers that the cut shares evenly have to come out even.
void check_cut(const Scenario& scenario, Refusals& refusals) {
    const Parallel& parallel = scenario.parallel;
    if (parallel.partition != Partition::Uniform || parallel.pipeline == 1) return;
    const int layers = scenario.model.layers.count();
    if (layers % parallel.pipeline != 0)
        return refusals.add(
            true, kArguments,
            fmt::format("{} layers are not a multiple of {} pipeline ranks, and neither "
                        "--pipeline-model-parallel-layout nor --decoder-first-pipeline-num-layers "
                        "or --decoder-last-pipeline-num-layers",
                        layers, parallel.pipeline));
    const int of_rank = layers / parallel.pipeline;
    refusals.add(of_rank % parallel.stages_per_rank != 0, kLayers,
                 fmt::format("{} layers of a rank are not a multiple of {} virtual stages", of_rank,
                             parallel.stages_per_rank));
}

void check_schedule(const Scenario& scenario, Refusals& refusals) {
    const Parallel& parallel = scenario.parallel;
    const std::string& name = scenario.schedule.name;
    const bool from_file = scenario.schedule.csv.has_value();
    const auto& known = scenario.framework.schedules;
    if (from_file) return;
    refusals.add(known && std::ranges::find(*known, name) == known->end(),
                 "megatron/core/pipeline_parallel/schedules.py, get_forward_backward_func",
                 fmt::format("it does not support the schedule {}", name));
    const bool interleaves =
        parallel.stages_per_rank > 1 && (name == "interleaved-1f1b" || name == "combined-1f1b");
    if (!interleaves || parallel.pipeline == 1) return;
    const int batches = scenario.training.micro_batches;
    const int ranks = parallel.pipeline;
    if (batches < ranks)
        return refusals.add(true, kInterleaving,
                            fmt::format("interleaving needs at least as many microbatches as "
                                        "pipeline ranks, but {} are fewer than {}",
                                        batches, ranks));
    refusals.add(batches % ranks != 0, kInterleaving,
                 fmt::format("interleaving uses groups of {} microbatches, but the last of {} has "
                             "{}, fewer than the pipeline's {} ranks",
                             ranks, batches, batches % ranks, ranks));
    refusals.add(parallel.pipeline == 2 &&
                     scenario.framework.point_to_point_blocks == MessagesBlock::ByWholeBackward,
                 kArguments,
                 "interleaving without overlapped messages needs more than 2 pipeline ranks, since "
                 "two messages would use the same pair");
}

void check_experts(const Scenario& scenario, Refusals& refusals) {
    const Parallel& parallel = scenario.parallel;
    const auto* const experts = scenario.model.layers.first<models::Experts>();
    if (experts == nullptr) return;
    const models::Dispatcher dispatcher = scenario.framework.kernels.dispatcher;
    const bool flex =
        dispatcher == models::Dispatcher::DeepEp || dispatcher == models::Dispatcher::HybridEp;
    refusals.add(flex && parallel.expert * parallel.expert_tensor == 1, kFlex,
                 "the dispatcher flex needs tensor x expert parallelism above 1");
    refusals.add(experts->bias && parallel.expert_tensor > 1, kConfig,
                 "experts with biases do not support expert tensor parallelism");
    refusals.add(experts->groups_chosen > experts->groups, kConfig,
                 "more expert groups are chosen than exist");
}

void check_combined(const Scenario& scenario, Refusals& refusals) {
    if (!scenario.schedule.pairs_layers) return;
    const Parallel& parallel = scenario.parallel;
    const Training& training = scenario.training;
    const std::string flag = "--overlap-moe-expert-parallel-comm";
    refusals.add(parallel.pipeline > 1 && parallel.stages_per_rank == 1, kConfig,
                 flag + " in a pipeline needs virtual stages");
    refusals.add(parallel.expert == 1, kConfig, flag + " needs expert parallelism");
    refusals.add(scenario.framework.kernels.dispatcher == models::Dispatcher::AllGather, kConfig,
                 flag + " needs the dispatcher alltoall or flex");
    refusals.add(training.recompute == models::Recompute::Full, kConfig,
                 flag + " cannot recompute whole layers");
    refusals.add(training.recompute == models::Recompute::Modules &&
                     training.recompute_extent.modules.has(models::Module::Moe),
                 kConfig, flag + " cannot recompute the module moe");
    refusals.add(training.precision.compute == models::DataType::Fp32, kConfig,
                 flag + " needs bf16 or fp16");
    refusals.add(scenario.model.mtp_layers > 1, kConfig,
                 flag + " supports at most one layer of multi-token prediction");
}

}  // namespace

void check_megatron(const Scenario& scenario, Refusals& refusals) {
    check_sizes(scenario, refusals);
    check_cut(scenario, refusals);
    check_schedule(scenario, refusals);
    check_experts(scenario, refusals);
    check_combined(scenario, refusals);
}

}  // namespace debubble::scenarios
