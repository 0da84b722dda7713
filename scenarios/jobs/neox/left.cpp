#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "scenarios/jobs/neox/neox.h"

/// Settings of GPT-NeoX (ea7aefd8, megatron/neox_arguments/neox_args.py and deepspeed_args.py) that
/// no key of a scenario says.
namespace debubble::jobs {
namespace {

/// They change no plan.
constexpr std::string_view kNeoxSilent =
    "adlr_autoresume adlr_autoresume_interval allow_chopped amp apply_query_key_layer_scaling "
    "attention_softmax_in_fp32 autotuning_run base_shapes_file char_level_ppl "
    "checkpoint_factor checkpoint_scale checkpoint_validation_with_forward_pass comet_experiment "
    "comet_experiment_name comet_others comet_project comet_tags comet_workspace comment account "
    "config_files contiguous_checkpointing coord_check data_impl dataset_impl data_path "
    "deepspeed_activation_checkpointing deepspeed_mpi deepspeed_slurm distributed_backend do_test "
    "do_train do_valid dump_state dynamic_loss_scale eod_mask_loss eval_interval eval_iters "
    "eval_results_prefix eval_tasks exclude exit_interval extra_save_iters finetune force_multi "
    "fused_kernels_build_path git_hash global_num_gpus gradient_noise_scale_cpu_offload "
    "gradient_noise_scale_n_batches gradient_predivide_factor hostfile hysteresis include "
    "init_method init_method_std is_pipe_parallel iteration keep_last_n_checkpoints launcher "
    "lazy_mpu_init load local_rank log_dir log_grad_norm log_grad_pct_zeros "
    "log_gradient_noise_scale log_interval log_optimizer_states log_param_norm loss_scale "
    "loss_scale_window lr_decay_fraction lr_decay_iters lr_decay_style master_addr master_port "
    "maximum_tokens memory_profiling memory_profiling_path memory_save merge_file min_lr min_scale "
    "mmap_warmup mup_attn_temp mup_embedding_mult mup_init_scale mup_output_temp "
    "mup_rp_embedding_mult "
    "mup_width_scale no_load_optim no_load_rng no_save_optim no_save_rng no_ssh_check num_samples "
    "num_workers onnx_safe opt_pos_emb_offset output_layer_init_method output_layer_parallelism "
    "override_lr_scheduler pack_impl peak_theoretical_tflops prescale_gradients profile "
    "profile_backward profile_step_start profile_step_stop prompt_end rank recompute return_logits "
    "rotary_save_freqs_buffer rpe_max_distance rpe_num_buckets s3_chunk_size s3_path "
    "sample_input_file "
    "sample_output_file save save_base_shapes save_iters scaled_masked_softmax_fusion "
    "scaled_upper_triang_masked_softmax_fusion seed serve_model_weights short_seq_prob split "
    "steps_per_print synchronize_each_layer temperature tensorboard_dir test_data_paths "
    "test_data_weights text_gen_type tokenizer_type top_k top_p train_data_paths "
    "train_data_weights train_epochs train_iters train_label_data_paths use_bias_in_norms "
    "use_checkpoint_lr_scheduler use_comet use_cpu_initialization use_mup use_shared_fs use_wandb "
    "user_script valid_data_paths valid_data_weights valid_label_data_paths vocab_file "
    "wall_clock_breakdown wandb_group wandb_host wandb_init_all_ranks wandb_project "
    "wandb_run_name wandb_team warmup weight_by_num_documents weighted_sampler_alpha "
    "weight_server_port zero_allgather_bucket_size zero_contiguous_gradients "
    "zero_reduce_bucket_size zero_reduce_scatter log_memory_usage use_flashattn_swiglu "
    "mamba_selective_fp32_params mamba_use_bias_in_conv mamba_use_bias_in_linears "
    "mamba_selective_scan_fusion mamba_causal_conv_fusion mamba_inner_func_fusion "
    "tensorboard_writer input_file_path impl gmlp_attn_dim moe_lbl_in_fp32 moe_jitter_eps "
    "moe_router_type moe_top_k moe_expert_interval moe_num_experts te_fp8_format te_fp8_wgrad "
    "te_fp8_amax_history_len te_fp8_amax_compute_algo te_fp8_margin layernorm_fusion "
    "rmsnorm_fusion param_sharing_style precision mlp_multiple_of checkpoint_num_layers";

/// Beginnings of such settings, whose maps are DeepSpeed's.
constexpr std::string_view kNeoxSilentMaps[] = {"optimizer.",
                                                "scheduler.",
                                                "fp16.",
                                                "bf16.",
                                                "zero_optimization.",
                                                "flops_profiler.",
                                                "tensorboard.",
                                                "csv_monitor.",
                                                "wandb.",
                                                "comms_logger.",
                                                "activation_checkpointing.",
                                                "checkpoint.",
                                                "data_types.",
                                                "sparsity_config.",
                                                "autotuning."};

struct NeoxFact {
    std::string_view name, sentence;
};

/// Networks and trainings of other kinds, where the setting is on.
constexpr NeoxFact kNeoxRefused[] = {
    {"num_unique_layers", "layers with shared parameters are not supported"},
    {"soft_prompt_tuning.enabled", "a soft prompt with a frozen network is not supported"},
    {"use_qk_layernorm", "norms of queries and keys over the heads of a rank are not supported"}};

constexpr NeoxFact kNeoxNoted[] = {
    {"te_columnparallel", "TransformerEngine's linear layers are planned as GPT-NeoX's own"},
    {"te_rowparallel", "TransformerEngine's linear layers are planned as GPT-NeoX's own"},
    {"te_layernorm_mlp", "TransformerEngine's MLP with its norm is planned as GPT-NeoX's own"},
    {"te_mha", "TransformerEngine's attention is planned as GPT-NeoX's own"},
    {"te_fp8_mha", "8-bit attention is planned in 16 bits"},
    {"use_bnb_optimizer", "8-bit moments (bitsandbytes) are planned in fp32"},
    {"checkpoint_in_cpu",
     "activation checkpoints are offloaded to the host, which is not modelled"},
    {"curriculum_learning.enabled", "the sequence length grows; the last one is planned"},
    {"data_efficiency.enabled", "data routing is not modelled"},
    {"fp16_lm_cross_entropy", "an fp16 loss is planned in fp32"},
    {"gpt_j_tied", "attention and MLP share a norm; two are planned"},
    {"deepscale", "elastic training is not modelled"},
    {"elasticity.enabled", "elastic training is not modelled"},
    {"compression_training", "compression is not modelled"}};

bool is_in(std::string_view names, std::string_view name) {
    for (std::size_t at = 0; at < names.size();) {
        const std::size_t end = std::min(names.find(' ', at), names.size());
        if (names.substr(at, end - at) == name) return true;
        at = end + 1;
    }
    return false;
}

/// On: true, or a number above 0.
bool is_on_here(const Setting& setting) {
    if (!setting.value->is(text::Node::Kind::Scalar)) return true;
    const std::string& word = setting.value->scalar;
    return word != "false" && word != "False" && word != "0" && word != "None" && word != "null";
}

}  // namespace

void check_neox(Reading& job) {
    Settings& in = job.in;
    const auto each = [&](const auto& facts, const auto& say) {
        for (const NeoxFact& fact : facts)
            if (const Setting* const setting = in.find(fact.name);
                setting != nullptr && is_on_here(*setting))
                say(*setting, std::string(fact.sentence));
    };
    if (!job.has_model())
        each(kNeoxRefused, [&](const Setting& setting, const std::string& sentence) {
            job.refuse_network(setting, sentence);
        });
    each(kNeoxNoted,
         [&](const Setting& setting, const std::string& sentence) { job.note(setting, sentence); });
    if (const auto experts = in.whole("moe_num_experts", 0, 4096);
        experts && *experts > 1 && !job.has_model())
        job.refuse_network(*in.find("moe_num_experts"),
                           "GPT-NeoX's mixtures of experts (megablocks) are not supported");
    if (const auto kind = in.word("train_impl"); kind && *kind != "normal")
        job.refuse(*in.find("train_impl"),
                   fmt::format(
                       "the training '{}' also has passes of other networks, which are not planned",
                       *kind));
    if (in.is_on("partition_activations") &&
        in.whole("tensor_model_parallel_size", 1, kMostDegree).value_or(1) > 1)
        job.note(*in.find("partition_activations"),
                 "activation checkpoints are distributed over tensor ranks, which is not modelled");
    for (const Setting& setting : in.all()) {
        const bool map = std::ranges::any_of(kNeoxSilentMaps, [&](std::string_view start) {
            return setting.name.starts_with(start);
        });
        if (!map && !is_in(kNeoxSilent, setting.name)) continue;
        in.find(setting.name);
        job.count_silent();
    }
}

}  // namespace debubble::jobs
