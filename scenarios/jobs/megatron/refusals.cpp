#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/megatron/network.h"

/// Rules of Megatron-LM d98e8a64dd about combinations of flags that are not visible in the
/// resulting scenario. Rules about sizes, parallelism and schedules are in
/// scenarios/check/framework_checks.h.
namespace debubble::jobs {
namespace {

constexpr std::string_view kOfArguments = "megatron/training/arguments.py, validate_args";
constexpr std::string_view kOfConfig =
    "megatron/core/transformer/transformer_config.py, TransformerConfig.__post_init__";
constexpr std::string_view kOfParallel =
    "megatron/core/model_parallel_config.py, ModelParallelConfig.__post_init__";
constexpr std::string_view kOfOptimizer =
    "megatron/core/optimizer/optimizer_config.py, OptimizerConfig.__post_init__";
constexpr std::string_view kOfSchedules =
    "megatron/core/pipeline_parallel/schedules.py, forward_backward_pipelining_with_interleaving";

class Rules {
public:
    Rules(Reading& job, bool is_bridge) : job_(job), is_bridge_(is_bridge) {}

    bool on(const char* name) { return job_.in.is_on(name); }
    bool has(const char* name) { return job_.in.has(name); }
    /// The word of a setting, if it is one that is known.
    std::string word(const char* name, const char* otherwise = "") {
        const Setting* const setting = job_.in.find(name);
        const bool plain =
            setting != nullptr && setting->known && setting->value->is(text::Node::Kind::Scalar);
        return plain ? setting->value->scalar : otherwise;
    }
    /// Says that Megatron-LM refuses the setting `name`.
    void refuse(bool broken, const char* name, const std::string& sentence,
                std::string_view place) {
        const Setting* const setting = job_.in.find(name);
        if (is_bridge_ && place == kOfArguments) return;  // which Megatron-Bridge never calls
        if (broken && setting != nullptr)
            job_.note(*setting,
                      fmt::format("Megatron-LM would refuse this: {} ({})", sentence, place),
                      Harm::Refused);
    }
    /// The same of two settings that are both on.
    void not_both(const char* name, const char* other, std::string_view place) {
        refuse(on(name) && on(other), name,
               fmt::format("it cannot be combined with {}", flag_of(other)), place);
    }
    /// A setting that needs another one.
    void needs(const char* name, const char* other, std::string_view place) {
        refuse(on(name) && !on(other), name, fmt::format("it needs {}", flag_of(other)), place);
    }

    /// The rules of that place are judged by flags, and not by the scenario too.
    void judge(std::string_view place) { job_.judge(std::string(place)); }

private:
    static std::string flag_of(std::string name) {
        std::ranges::replace(name, '_', '-');
        return "--" + name;
    }

    Reading& job_;
    bool is_bridge_;
};

void rules_of_cut(Rules& rules) {
    int ways = 0;
    for (const char* name :
         {"num_layers_per_virtual_pipeline_stage", "num_virtual_stages_per_pipeline_rank",
          "pipeline_model_parallel_layout"})
        ways += rules.has(name) ? 1 : 0;
    for (const char* name :
         {"num_layers_per_virtual_pipeline_stage", "num_virtual_stages_per_pipeline_rank"}) {
        rules.refuse(ways > 1, name,
                     "one of --num-layers-per-virtual-pipeline-stage, "
                     "--num-virtual-stages-per-pipeline-rank and --pipeline-model-parallel-layout "
                     "can be given",
                     kOfArguments);
        rules.refuse(rules.has("hybrid_layer_pattern"), name,
                     "the stages of a --hybrid-layer-pattern are separated by its |", kOfArguments);
    }
    for (const char* ends :
         {"decoder_first_pipeline_num_layers", "decoder_last_pipeline_num_layers"}) {
        rules.refuse(rules.has("num_layers_per_virtual_pipeline_stage"), ends,
                     "it needs --num-virtual-stages-per-pipeline-rank, not "
                     "--num-layers-per-virtual-pipeline-stage",
                     kOfArguments);
        rules.refuse(rules.has("pipeline_model_parallel_layout"), ends,
                     "it cannot be combined with --pipeline-model-parallel-layout", kOfConfig);
        for (const char* account :
             {"account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"})
            rules.refuse(rules.on(account), ends,
                         "it cannot be combined with --account-for-...-in-pipeline-split",
                         kOfConfig);
    }
}

/// Groups of microbatches, of which the scenario knows the pipeline's own size alone.
void rules_of_groups(Rules& rules, const MegatronCut& cut) {
    if (cut.chunks < 2 || cut.pipeline < 2) return;
    const std::int64_t batches = cut.micro_batches.value_or(0);  // none break no rule
    for (const char* name : {"microbatch_group_size_per_vp_stage",
                             "microbatch_group_size_per_virtual_pipeline_stage"}) {
        const std::optional<double> size = number_of(rules.word(name));
        if (!size || *size < 1) continue;
        const auto group = static_cast<std::int64_t>(*size);
        const bool few = batches > 0 && batches < cut.pipeline;
        rules.refuse(few, name,
                     fmt::format("interleaving needs at least as many microbatches as pipeline "
                                 "ranks, but {} are fewer than {}",
                                 batches, cut.pipeline),
                     kOfSchedules);
        rules.refuse(!few && (group < cut.pipeline || (batches > 0 && group > batches)), name,
                     fmt::format("groups of {} microbatches are not between the pipeline's {} "
                                 "ranks and the step's {} microbatches",
                                 group, cut.pipeline, batches),
                     kOfSchedules);
        const std::int64_t last = batches % group;
        rules.refuse(group <= batches && last > 0 && last < cut.pipeline, name,
                     fmt::format("the last group of {} microbatches has {}, fewer than the "
                                 "pipeline's {} ranks",
                                 batches, last, cut.pipeline),
                     kOfSchedules);
        rules.judge(kOfSchedules);
    }
}

void rules_of_batches(Rules& rules) {
    rules.refuse(rules.has("global_batch_size"), "step_batch_size_schedule",
                 "it cannot be combined with --global-batch-size", kOfArguments);
    if (rules.on("skip_train")) return;
    for (const char* samples : {"train_samples", "lr_decay_samples", "lr_warmup_samples"})
        rules.refuse(rules.has("train_iters") && rules.word(samples) != "0", samples,
                     "it cannot be combined with --train-iters", kOfArguments);
    rules.refuse(rules.word("lr_warmup_iters", "0") != "0", "lr_warmup_fraction",
                 "it cannot be combined with --lr-warmup-iters", kOfArguments);
    const std::optional<double> rate = number_of(rules.word("lr"));
    const std::optional<double> least = number_of(rules.word("min_lr"));
    rules.refuse(rate && least && *least > *rate, "min_lr", "it is larger than --lr", kOfArguments);
}

void rules_of_experts(Rules& rules) {
    const std::string type = rules.word("moe_token_dispatcher_type", "allgather");
    const std::string backend = rules.word("moe_flex_dispatcher_backend", "deepep");
    rules.refuse(rules.on("moe_enable_deepep") && type != "flex", "moe_enable_deepep",
                 "it needs --moe-token-dispatcher-type flex", kOfConfig);
    rules.refuse(rules.on("moe_enable_deepep") && backend == "hybridep", "moe_enable_deepep",
                 "the dispatcher's backend must be hybridep", kOfConfig);
    rules.refuse(rules.on("moe_shared_expert_overlap") && type == "allgather",
                 "moe_shared_expert_overlap", "it needs a dispatcher other than allgather",
                 kOfConfig);
    const bool experts = rules.has("num_experts");
    for (const char* name : {"moe_ffn_hidden_size", "moe_latent_size"})
        rules.refuse(!experts, name, "it needs --num-experts", kOfConfig);
    rules.refuse(!experts && rules.word("expert_model_parallel_size", "1") != "1",
                 "expert_model_parallel_size", "it needs --num-experts", kOfArguments);
    const std::string score = rules.word("moe_router_score_function", "softmax");
    rules.refuse(rules.on("moe_router_enable_expert_bias") && score == "softmax",
                 "moe_router_enable_expert_bias",
                 "it needs --moe-router-score-function sigmoid or sqrtsoftplus", kOfConfig);
    rules.refuse(rules.word("moe_router_topk") == "1" && score == "softmax" &&
                     !rules.on("moe_router_pre_softmax") &&
                     rules.word("moe_router_load_balancing_type") != "sinkhorn",
                 "moe_router_topk", "a router of one expert needs --moe-router-pre-softmax",
                 kOfConfig);
    rules.refuse(!rules.has("moe_router_num_groups"), "moe_router_group_topk",
                 "it needs --moe-router-num-groups", kOfConfig);
    rules.needs("moe_pad_expert_input_to_capacity", "moe_expert_capacity_factor", kOfConfig);
    const std::string balance = rules.word("moe_router_load_balancing_type", "aux_loss");
    rules.refuse(!balance.ends_with("aux_loss") && balance != "none", "moe_expert_capacity_factor",
                 fmt::format("it does not support balancing by {}", balance), kOfConfig);
    for (const char* name : {"moe_use_grouped_tensor", "moe_single_grouped_weight"})
        rules.needs(name, "moe_grouped_gemm", kOfConfig);
    rules.needs("delay_wgrad_compute", "overlap_moe_expert_parallel_comm", kOfConfig);
    rules.not_both("overlap_moe_expert_parallel_comm", "moe_shared_expert_overlap", kOfConfig);
}

void rules_of_recompute(Rules& rules) {
    const std::string granularity = rules.word("recompute_granularity");
    rules.refuse(granularity == "full" && !rules.has("recompute_method"), "recompute_granularity",
                 "full needs --recompute-method block or uniform; all layers are planned",
                 kOfConfig);
    rules.refuse(granularity == "full" && rules.has("recompute_method") &&
                     !rules.has("recompute_num_layers"),
                 "recompute_granularity", "full needs --recompute-num-layers", kOfConfig);
    rules.refuse(granularity == "selective", "recompute_method", "selective does not take a method",
                 kOfArguments);
    rules.refuse(granularity == "selective" && rules.word("recompute_num_layers") != "0",
                 "recompute_num_layers", "selective does not take a number of layers", kOfConfig);
    rules.not_both("distribute_saved_activations", "sequence_parallel", kOfConfig);
    rules.refuse(rules.on("moe_layer_recompute") && granularity == "full", "moe_layer_recompute",
                 "it cannot be combined with --recompute-granularity full", kOfConfig);
    rules.not_both("fine_grained_activation_offloading", "cpu_offloading", kOfConfig);
    rules.refuse(rules.on("fine_grained_activation_offloading") && !rules.has("offload_modules"),
                 "fine_grained_activation_offloading", "it needs --offload-modules", kOfConfig);
}

void rules_of_precision(Rules& rules) {
    rules.not_both("fp16", "bf16", kOfArguments);
    rules.refuse(rules.has("fp8_format"), "fp4_format", "it cannot be combined with --fp8-format",
                 kOfArguments);
    rules.refuse(rules.on("fp8_param_gather") && !rules.has("fp8_format"), "fp8_param_gather",
                 "it needs --fp8-format", kOfConfig);
    rules.refuse(rules.on("fp4_param_gather") && !rules.has("fp4_format"), "fp4_param_gather",
                 "it needs --fp4-format", kOfConfig);
    rules.needs("fp16_lm_cross_entropy", "fp16", kOfArguments);
    rules.refuse(rules.on("fp32_residual_connection") && !rules.on("bf16") && !rules.on("fp16"),
                 "fp32_residual_connection", "it needs --bf16 or --fp16", kOfArguments);
    rules.refuse(rules.on("accumulate_allreduce_grads_in_fp32") &&
                     rules.word("main_grads_dtype", "fp32") != "fp32",
                 "accumulate_allreduce_grads_in_fp32", "it needs --main-grads-dtype fp32",
                 kOfArguments);
    const bool aware = rules.on("use_precision_aware_optimizer");
    for (const char* name :
         {"exp_avg_dtype", "exp_avg_sq_dtype", "main_grads_dtype", "main_params_dtype"})
        rules.refuse(!aware && rules.word(name, "fp32") != "fp32", name,
                     "it needs --use-precision-aware-optimizer", kOfOptimizer);
    rules.refuse(aware && rules.word("optimizer", "adam") != "adam",
                 "use_precision_aware_optimizer", "it needs --optimizer adam", kOfOptimizer);
    rules.needs("optimizer_cpu_offload", "use_precision_aware_optimizer", kOfArguments);
}

void rules_of_sharding(Rules& rules, const MegatronCut& cut) {
    const bool shards = rules.on("use_distributed_optimizer") || rules.on("use_megatron_fsdp") ||
                        rules.word("optimizer").find("muon") != std::string::npos;
    rules.refuse(rules.on("overlap_param_gather") && !shards, "overlap_param_gather",
                 "it needs --use-distributed-optimizer", kOfArguments);
    rules.needs("overlap_param_gather_with_optimizer_step", "overlap_param_gather", kOfArguments);
    for (const char* other : {"use_distributed_optimizer", "fp16"})
        rules.not_both("use_torch_fsdp2", other, kOfArguments);
    rules.refuse(rules.on("use_torch_fsdp2") && cut.pipeline > 1, "use_torch_fsdp2",
                 "it does not support pipeline parallelism", kOfArguments);
    rules.refuse(
        rules.on("use_torch_fsdp2") && rules.word("expert_model_parallel_size", "1") != "1",
        "use_torch_fsdp2", "it does not support expert parallelism", kOfArguments);
    rules.refuse(rules.on("use_torch_fsdp2") && !rules.on("untie_embeddings_and_output_weights"),
                 "use_torch_fsdp2", "it needs --untie-embeddings-and-output-weights", kOfArguments);
    rules.refuse(
        rules.on("use_torch_fsdp2") && rules.word("gradient_accumulation_fusion") != "false",
        "use_torch_fsdp2", "it needs --no-gradient-accumulation-fusion", kOfArguments);
    rules.refuse(rules.on("defer_embedding_wgrad_compute") && cut.pipeline == 1,
                 "defer_embedding_wgrad_compute", "it needs a pipeline", kOfParallel);
}

void rules_of_attention(Rules& rules, bool is_primus) {
    rules.not_both("multi_latent_attention", "group_query_attention", kOfArguments);
    rules.not_both("multi_latent_attention", "attention_output_gate",
                   "megatron/core/transformer/transformer_config.py, "
                   "MLATransformerConfig.__post_init__");
    rules.not_both("multi_latent_attention", "rotary_interleaved", kOfConfig);
    rules.refuse(!is_primus && rules.on("cross_entropy_loss_fusion") &&
                     rules.word("cross_entropy_fusion_impl") == "te",
                 "cross_entropy_fusion_impl", "the fused loss must be native, not te",
                 kOfArguments);
}

/// Names that Megatron-LM's parser refuses; Megatron-DeepSpeed still takes them.
void rules_of_names(Rules& rules, Settings& in) {
    for (const Setting& setting : in.all())
        for (const auto& [old, now] :
             {std::pair<std::string_view, std::string_view>{"--batch-size", "--micro-batch-size"},
              {"--model-parallel-size", "--tensor-model-parallel-size"},
              {"--checkpoint-activations", "--recompute-granularity"}})
            if (setting.written == old)
                rules.refuse(true, setting.name.c_str(),
                             fmt::format("it has been renamed to {}", now), kOfArguments);
}

}  // namespace

void note_megatron_refusals(Reading& job, const MegatronDialect& dialect, const MegatronCut& cut) {
    if (is_megatron_deepspeed(job.in)) return;
    Rules rules(job, dialect.is_bridge);
    rules_of_cut(rules);
    rules_of_groups(rules, cut);
    rules_of_batches(rules);
    rules_of_experts(rules);
    rules_of_recompute(rules);
    rules_of_precision(rules);
    rules_of_sharding(rules, cut);
    rules_of_attention(rules, dialect.is_primus);
    rules_of_names(rules, job.in);
    note_environment_refusals(job, dialect, cut);
}

}  // namespace debubble::jobs
