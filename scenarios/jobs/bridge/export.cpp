#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/write/job_writer.h"

/// Megatron-Bridge's overrides, as its scripts take them: section.field=value.
namespace debubble::jobs {
namespace {

using models::Recipe;

struct BridgeName {
    std::string_view field;
    std::string_view bridge;
};
/// Fields that lie in other sections than `model`, or have other names there.
constexpr BridgeName kBridgeNames[] = {
    {"micro_batch_size", "train.micro_batch_size"},
    {"global_batch_size", "train.global_batch_size"},
    {"overlap_grad_reduce", "ddp.overlap_grad_reduce"},
    {"overlap_param_gather", "ddp.overlap_param_gather"},
    {"use_distributed_optimizer", "ddp.use_distributed_optimizer"},
    {"use_megatron_fsdp", "ddp.use_megatron_fsdp"},
    {"data_parallel_sharding_strategy", "ddp.data_parallel_sharding_strategy"},
    {"num_distributed_optimizer_instances", "ddp.num_distributed_optimizer_instances"},
    {"ddp_bucket_size", "ddp.bucket_size"},
    {"vocab_size", "model.vocab_size"},
    {"tokenizer_type", "tokenizer.tokenizer_type"},
    {"tp_comm_overlap", "comm_overlap.tp_comm_overlap"},
    {"overlap_moe_expert_parallel_comm", "comm_overlap.overlap_moe_expert_parallel_comm"},
    {"delay_wgrad_compute", "comm_overlap.delay_wgrad_compute"},
    {"overlap_p2p_communication", "comm_overlap.overlap_p2p_comm"},
    {"optimizer", "optimizer.optimizer"},
    {"optimizer_cpu_offload", "optimizer.optimizer_cpu_offload"},
    {"use_precision_aware_optimizer", "optimizer.use_precision_aware_optimizer"},
    {"exp_avg_dtype", "optimizer.exp_avg_dtype"},
    {"exp_avg_sq_dtype", "optimizer.exp_avg_sq_dtype"},
    {"num_experts", "model.num_moe_experts"},
    {"norm_epsilon", "model.layernorm_epsilon"},
    {"rope_fusion", "model.apply_rope_fusion"},
    {"bias_linear", "model.add_bias_linear"},
    {"bias_swiglu_fusion", "model.bias_activation_fusion"},
    {"num_virtual_stages_per_pipeline_rank", "model.virtual_pipeline_model_parallel_size"},
    {"apply_layernorm_1p", "model.layernorm_zero_centered_gamma"},
    {"fp8_dot_product_attention", "mixed_precision.fp8_dot_product_attention"},
    {"use_varlen_dataset", "dataset.enable_global_batch_packing"},
    {"create_attention_mask_in_dataloader", "dataset.create_attention_mask_in_dataloader"}};

/// Given by the name of the precision, or in another way.
constexpr std::string_view kElsewhere[] = {"bf16",
                                           "mock_data",
                                           "sft",
                                           "varlen_mock_dataset_config_json",
                                           "sft_mock_dataset_config_json",
                                           "fp16",
                                           "fp8_format",
                                           "fp8_recipe",
                                           "fp4_format",
                                           "fp8_param_gather",
                                           "first_last_layers_bf16",
                                           "num_layers_at_start_in_bf16",
                                           "num_layers_at_end_in_bf16",
                                           "grad_reduce_in_bf16",
                                           "accumulate_allreduce_grads_in_fp32",
                                           "untie_embeddings_and_output_weights",
                                           "swiglu",
                                           "squared_relu",
                                           "quick_geglu",
                                           "group_query_attention"};

std::string precision_name(const scenarios::Precision& p) {
    switch (p.recipe) {
        case Recipe::None: break;
        case Recipe::Fp8Delayed: return "bf16_with_fp8_delayed_scaling_mixed";
        case Recipe::Fp8Rowwise:
        case Recipe::Fp8Current: return "bf16_with_fp8_current_scaling_mixed";
        case Recipe::Fp8Blockwise: return "bf16_with_fp8_subchannel_scaling_mixed";
        case Recipe::MxFp8: return "bf16_with_mxfp8_mixed";
        case Recipe::NvFp4: return "bf16_with_nvfp4_mixed";
    }
    if (p.compute == models::DataType::Fp16) return "fp16_mixed";
    return p.compute == models::DataType::Bf16 ? "bf16_mixed" : "";
}

std::string bridge_line(const Field& field) {
    std::string name = "model." + field.name;
    for (const auto& [known, other] : kBridgeNames)
        if (field.name == known) name = other;
    std::string value = field.value;
    const bool list = field.name.ends_with("_modules") || field.name.ends_with("_sizes");
    if (list) {
        std::ranges::replace(value, ' ', ',');
        value = "[" + value + "]";
    }
    const bool plain = value.find_first_of("()|[]*, ") == std::string::npos;
    return fmt::format("{0}{1}={2}{0}", plain ? "" : "'", name, value);
}

}  // namespace

std::string write_bridge(JobWriter& job) {
    add_megatron_fields(job);
    const scenarios::Scenario& s = job.s;
    std::string out = "OVERRIDES=(\n";
    const auto line = [&](const std::string& text) { out += "    " + text + "\n"; };
    for (const Field& field : job.fields)
        if (std::ranges::find(kElsewhere, field.name) == std::end(kElsewhere))
            line(bridge_line(field));
    line(fmt::format("model.share_embeddings_and_output_weights={}", s.model.tied_embedding));
    const auto* dense = s.model.layers.first<models::DenseMlp>();
    const auto* experts = s.model.layers.first<models::Experts>();
    if (dense != nullptr || experts != nullptr) {
        const models::Activation activation =
            dense != nullptr ? dense->activation : experts->activation;
        line(fmt::format("model.gated_linear_unit={}", models::is_gated(activation)));
        line(fmt::format("model.activation_func={}",
                         activation == models::Activation::Swiglu          ? "silu"
                         : activation == models::Activation::SquaredRelu   ? "squared_relu"
                         : activation == models::Activation::ClampedSwiglu ? "quick_gelu"
                                                                           : "gelu"));
    }
    const scenarios::Precision& p = s.training.precision;
    const std::string name = precision_name(p);
    if (name.empty())
        job.cannot("training.precision", "Megatron-Bridge has no name for training in fp32");
    else
        line("mixed_precision=" + name);
    line(fmt::format("mixed_precision.grad_reduce_in_fp32={}", p.grads == models::DataType::Fp32));
    if (p.recipe != Recipe::None) {  // which the name says in its own way
        line(fmt::format("mixed_precision.{}={}",
                         p.recipe == Recipe::NvFp4 ? "fp4_param_gather" : "fp8_param_gather",
                         p.param_gather != scenarios::ParamGather::Bf16));
        line(fmt::format("mixed_precision.first_last_layers_bf16={}",
                         p.bf16_first + p.bf16_last > 0));
    }
    if (p.bf16_first + p.bf16_last > 0) {
        line(fmt::format("mixed_precision.num_layers_at_start_in_bf16={}", p.bf16_first));
        line(fmt::format("mixed_precision.num_layers_at_end_in_bf16={}", p.bf16_last));
    }
    out += ")\n";
    return out + fmt::format("{} run_recipe.py --mode pretrain \"${{OVERRIDES[@]}}\" \"$@\"\n",
                             launcher(s));
}

}  // namespace debubble::jobs
