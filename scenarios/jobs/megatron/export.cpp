#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/partition/partition.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/write/job_writer.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/packing.h"

/// Megatron-Core's fields of a plan, as flags of Megatron-LM and as fields of Megatron-Bridge.
namespace debubble::jobs {
namespace {

using models::DataType;
using scenarios::Scenario;

void add_stages(JobWriter& job) {
    const scenarios::Parallel& p = job.s.parallel;
    const std::vector<int> layers = layers_of_stages(job.s);
    if (p.layout) {
        job.say("pipeline_model_parallel_layout", *p.layout);
        return;
    }
    if (layers.size() > 1 && !is_even(layers)) {
        std::vector<models::StageContent> stages;
        for (std::size_t i = 0; i < layers.size(); ++i)
            stages.push_back({0, layers[i], i == 0, i + 1 == layers.size()});
        job.say("pipeline_model_parallel_layout",
                models::layout_of(stages, job.s.model.mtp_layers));
        return;
    }
    if (p.stages_per_rank > 1) job.say("num_virtual_stages_per_pipeline_rank", p.stages_per_rank);
}

void add_schedule(JobWriter& job) {
    const Scenario& s = job.s;
    const std::string& name = s.schedule.name;
    if (name == "combined-1f1b") {
        job.flag("overlap_moe_expert_parallel_comm", true);
        if (s.schedule.delays_weights()) job.flag("delay_wgrad_compute", true);
    } else if (s.schedule.csv || (name != "1f1b" && name != "interleaved-1f1b")) {
        if (s.parallel.pipeline > 1)
            job.cannot("schedule.name",
                       fmt::format("Megatron-LM runs 1F1B, interleaved and combined 1F1B, not {}; "
                                   "zb-h1, zb-v and v-half are in Primus (patch_primus_pipeline, "
                                   "pp_algorithm zero-bubble, zbv-formatted, v-half, v-min) or in "
                                   "sail-sg's fork",
                                   s.schedule.csv ? "a schedule of a file" : name));
    }
    if (name == "interleaved-1f1b" && s.training.micro_batches % s.parallel.pipeline != 0)
        job.cannot("schedule.rounds",
                   fmt::format("interleaving needs a multiple of the pipeline's ranks as "
                               "microbatches: {} are not a multiple of {}",
                               s.training.micro_batches, s.parallel.pipeline));
    if (s.schedule.slices > 1)
        job.cannot("schedule.slices",
                   "Megatron-LM does not pass sequence slices through its pipeline");
}

void add_cut_fields(JobWriter& job) {
    const scenarios::Parallel& p = job.s.parallel;
    job.say("tensor_model_parallel_size", p.tensor);
    job.say("pipeline_model_parallel_size", p.pipeline);
    job.say("context_parallel_size", p.context);
    if (job.s.model.has_experts()) {
        job.say("expert_model_parallel_size", p.expert);
        job.say("expert_tensor_parallel_size", p.expert_tensor);
    }
    job.flag("sequence_parallel", p.sequence && p.tensor > 1);
    if (p.context > 1) {
        const std::string_view word = word_of(job.s.framework.kernels.context_communication);
        job.say("cp_comm_type", word == "all-gather"   ? "allgather"
                                : word == "all-to-all" ? "a2a"
                                                       : std::string(word));
        if (job.s.framework.kernels.context_communication ==
            models::ContextCommunication::TwoLevel) {
            const scenarios::ContextLevels levels = scenarios::context_levels(job.s);
            job.say("hierarchical_context_parallel_sizes",
                    fmt::format("{} {}", levels.inner, levels.outer));
        }
    }
    if (p.order == scenarios::RankOrder::parse("tp-cp-ep-pp-dp"))
        job.flag("use_tp_pp_dp_mapping", true);
    else if (p.order != scenarios::RankOrder{})
        job.cannot("parallel.order", "Megatron-LM has tp-cp-ep-dp-pp and tp-cp-ep-pp-dp");
    const bool pairs_in_pipeline = job.s.schedule.pairs_layers && p.pipeline > 1;
    if (p.zero_stage >= 2 && pairs_in_pipeline)
        job.cannot(
            "parallel.zero_stage",
            "Megatron-FSDP does not support a pipeline with --overlap-moe-expert-parallel-comm; "
            "the distributed optimizer, ZeRO-1, is written");
    job.flag("use_distributed_optimizer",
             p.zero_stage == 1 || (p.zero_stage >= 2 && pairs_in_pipeline));
    if (p.zero_stage >= 2 && !pairs_in_pipeline) {
        job.flag("use_megatron_fsdp", true);
        job.say("data_parallel_sharding_strategy",
                p.zero_stage == 2 ? "optim_grads" : "optim_grads_params");
    }
    if (p.copies() > 1 && p.zero_stage > 0)
        job.say("num_distributed_optimizer_instances", p.copies());
    add_packing_fields(job);
    add_stages(job);
    add_schedule(job);
}

void add_precision_fields(JobWriter& job) {
    const scenarios::Precision& p = job.s.training.precision;
    using models::Recipe;
    if (p.compute == DataType::Bf16) job.flag("bf16", true);
    if (p.compute == DataType::Fp16) job.flag("fp16", true);
    switch (p.recipe) {
        case Recipe::None: break;
        case Recipe::Fp8Delayed: job.say("fp8_recipe", "delayed"); break;
        case Recipe::Fp8Current: job.say("fp8_recipe", "tensorwise"); break;
        case Recipe::Fp8Blockwise: job.say("fp8_recipe", "blockwise"); break;
        case Recipe::MxFp8: job.say("fp8_recipe", "mxfp8"); break;
        case Recipe::NvFp4: job.say("fp4_format", "e2m1"); break;
        case Recipe::Fp8Rowwise:
            job.say("fp8_recipe", "tensorwise");
            job.cannot("training.precision",
                       "Megatron-LM has no row-wise recipe; tensorwise is "
                       "written");
    }
    if (p.recipe != Recipe::None && p.recipe != Recipe::NvFp4) job.say("fp8_format", "hybrid");
    if (p.param_gather != scenarios::ParamGather::Bf16) job.flag("fp8_param_gather", true);
    if (p.fp8_attention) job.flag("fp8_dot_product_attention", true);
    if (p.fp8_activations) {
        job.flag("activation_func_fp8_input_store", true);
        job.cannot("training.precision.activations",
                   "Megatron-LM keeps the inputs of activation functions in 8 bits, also in dense "
                   "layers, and the attention output in bf16");
    }
    if (p.bf16_first + p.bf16_last > 0) {
        job.flag("first_last_layers_bf16", true);
        job.say("num_layers_at_start_in_bf16", p.bf16_first);
        job.say("num_layers_at_end_in_bf16", p.bf16_last);
    }
    if (p.compute == DataType::Fp16 && p.grads == DataType::Fp32)
        job.flag("accumulate_allreduce_grads_in_fp32", true);
    if (p.compute == DataType::Bf16 && p.grads == DataType::Bf16)
        job.flag("grad_reduce_in_bf16", true);
    if (!p.main_grads || (p.main_params && p.moments != DataType::Fp32)) {
        job.flag("use_precision_aware_optimizer", true);
        job.say("exp_avg_dtype", std::string(word_of(p.moments)));
        job.say("exp_avg_sq_dtype", std::string(word_of(p.moments)));
    }
    if (!p.main_params && p.compute != DataType::Fp32)
        job.cannot("training.precision",
                   "Megatron-LM keeps main parameters in fp32 in addition to those in 16 bits");
}

void add_recompute(JobWriter& job) {
    const scenarios::Training& t = job.s.training;
    std::vector<std::string_view> modules;
    for (const models::Module module : models::kModules)
        if (t.recompute_extent.modules.has(module)) modules.push_back(models::name_of(module));
    switch (t.recompute) {
        case models::Recompute::None: break;
        case models::Recompute::Selective: job.say("recompute_granularity", "selective"); break;
        case models::Recompute::Products:
            job.cannot("training.recompute",
                       "Megatron-LM does not recompute operator by operator (selective-op)");
            break;
        case models::Recompute::Modules:
            job.say("recompute_granularity", "selective");
            job.say("recompute_modules", fmt::format("{}", fmt::join(modules, " ")));
            break;
        case models::Recompute::Full: {
            const models::RecomputeExtent& extent = t.recompute_extent;
            job.say("recompute_granularity", "full");
            job.say("recompute_method", extent.layers ? "block" : "uniform");
            job.say("recompute_num_layers", extent.layers.value_or(extent.together));
        }
    }
    std::vector<std::string_view> moved;
    for (const models::Module module : models::kModules)
        if (t.offload.modules.has(module)) moved.push_back(models::name_of(module));
    if (!moved.empty()) {
        job.flag("fine_grained_activation_offloading", true);
        job.say("offload_modules", fmt::format("{}", fmt::join(moved, " ")));
        if (t.offload.fewest_elements != models::OffloadExtent{}.fewest_elements)
            job.say("min_offloaded_tensor_size", t.offload.fewest_elements);
    }
    if (t.offload.everything && t.offload.layers)
        job.say("cpu_offloading_num_layers", *t.offload.layers);
    if (t.offload_optimizer) job.flag("optimizer_cpu_offload", true);
}

void add_software_fields(JobWriter& job) {
    const scenarios::Framework& f = job.s.framework;
    const models::KernelOptions& k = f.kernels;
    job.flag("overlap_grad_reduce", f.overlap_grad_reduce);
    job.flag("overlap_param_gather", f.overlap_param_gather);
    if (f.overlap_grad_reduce && job.s.parallel.zero_stage < 2)
        job.say("ddp_bucket_size",
                f.grad_bucket.count / models::size_of(job.s.training.precision.grads));
    const bool fused = k.loss == models::LossKernel::MegatronFused ||
                       k.loss == models::LossKernel::TransformerEngine;
    job.flag("cross_entropy_loss_fusion", fused);
    if (fused) {
        job.say("cross_entropy_fusion_impl",
                k.loss == models::LossKernel::MegatronFused ? "native" : "te");
    }
    job.flag("create_attention_mask_in_dataloader", k.attention_mask_tensor);
    if (f.tensor_overlap) job.flag("tp_comm_overlap", true);
    const std::vector<std::string> graphs = graph_words(f.cuda_graphs);
    if (graphs == std::vector<std::string>{"full_iteration"}) {
        job.say("cuda_graph_impl", "full_iteration");
    } else if (!graphs.empty()) {
        job.say("cuda_graph_impl", "transformer_engine");
        if (graphs.front() != "layer")
            job.say("cuda_graph_modules", fmt::format("{}", fmt::join(graphs, " ")));
    }
    const bool blocks = f.point_to_point_blocks == scenarios::MessagesBlock::Always ||
                        f.point_to_point_blocks == scenarios::MessagesBlock::ByWholeBackward;
    if (blocks && job.s.schedule.name == "interleaved-1f1b")
        job.flag("overlap_p2p_communication", false);
    if (k.shared_expert_overlap) job.flag("moe_shared_expert_overlap", true);
    if (!k.gradient_accumulation_fusion) job.flag("gradient_accumulation_fusion", false);
    if (!k.fused_rope) job.flag("rope_fusion", false);
    if (!k.fused_bias_activation) job.flag("bias_swiglu_fusion", false);
    if (!k.fused_bias_dropout_add) job.flag("bias_dropout_fusion", false);
    job.say("attention_backend",
            job.s.training.attention == models::AttentionKernel::Flash ? "auto" : "unfused");
}

/// The flag of a field, as Megatron-LM's parser has it; empty for what is its default.
std::string flag_of(const Field& field) {
    std::string name = field.name;
    std::ranges::replace(name, '_', '-');
    if (!field.is_flag) {
        const bool plain = field.value.find_first_of("()|[]*{}\"") == std::string::npos;
        return fmt::format("--{} {}{}{}", name, plain ? "" : "'", field.value, plain ? "" : "'");
    }
    if (field.value == "true")
        return field.name == "bias_linear" || field.name == "create_attention_mask_in_dataloader" ||
                       field.name.ends_with("_fusion")
                   ? (field.name == "cross_entropy_loss_fusion" ? "--" + name : std::string())
                   : "--" + name;
    if (field.name == "bias_linear") return "--disable-bias-linear";
    if (field.name == "cross_entropy_loss_fusion") return {};
    if (field.name == "create_attention_mask_in_dataloader" || field.name.ends_with("_fusion") ||
        field.name == "overlap_p2p_communication")
        return "--no-" + name;
    return {};
}

}  // namespace

std::string launcher(const Scenario& s) {
    const int per_node = std::min(s.gpus, s.cluster.gpus_per_node);
    return fmt::format("torchrun --nnodes {} --nproc_per_node {}",
                       (s.gpus + per_node - 1) / per_node, per_node);
}

void add_megatron_fields(JobWriter& job) {
    add_model_fields(job);
    add_cut_fields(job);
    job.say("micro_batch_size", job.s.training.micro_batch);
    job.say("global_batch_size", job.s.training.global_batch);
    add_precision_fields(job);
    add_recompute(job);
    add_software_fields(job);
    const auto& optimizer = job.s.training.run.optimizer;
    if (!std::holds_alternative<scenarios::AdamOptions>(optimizer))
        job.say("optimizer",
                std::holds_alternative<scenarios::MuonOptions>(optimizer) ? "muon" : "sgd");
}

std::string write_megatron(JobWriter& job) {
    add_megatron_fields(job);
    std::string out = "ARGS=(\n";
    for (const Field& field : job.fields)
        if (const std::string flag = flag_of(field); !flag.empty()) out += "    " + flag + "\n";
    out += ")\n";
    if (scenarios::packs_in_step(job.s)) out += "# The data are mock documents of these lengths.\n";
    if (job.s.parallel.zero_stage >= 2)
        out += "# Megatron-FSDP: CUDA_DEVICE_MAX_CONNECTIONS must not be 1.\n";
    return out + fmt::format("{} pretrain_gpt.py \"${{ARGS[@]}}\" \"$@\"\n", launcher(job.s));
}

}  // namespace debubble::jobs
