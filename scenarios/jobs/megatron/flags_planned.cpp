#include "scenarios/jobs/megatron/flags.h"

namespace debubble::jobs {
namespace {

/// Flags that the readers of this folder read.
constexpr FlagGroup kPlanned[] = {
    // clang-format off
    {FlagFate::Planned,
     "It is read.",
     "account_for_embedding_in_pipeline_split account_for_loss_in_pipeline_split "
     "accumulate_allreduce_grads_in_fp32 activation_func adam_beta1 adam_beta2 add_bias_linear "
     "add_qkv_bias apply_layernorm_1p apply_rope_fusion attention_backend attention_dropout "
     "attention_output_gate batch_size bf16 bias_activation_fusion bias_dropout_fusion "
     "bias_gelu_fusion bias_linear bias_swiglu_fusion bucket_size calculate_per_token_loss "
     "checkpoint_activations clip_grad context_parallel_size cp_comm_type cpu_offloading "
     "cpu_offloading_num_layers create_attention_mask_in_dataloader cross_entropy_fusion_impl "
     "cross_entropy_loss_fusion cuda_graph_impl cuda_graph_modules cuda_graph_scope "
     "data_parallel_sharding_strategy ddp_bucket_size decoder_first_pipeline_num_layers "
     "decoder_last_pipeline_num_layers deepspeed delay_wgrad_compute disable_align_grad_reduce "
     "disable_bias_linear disable_fp8_wgrad disable_pad_vocab_size enable_cuda_graph "
     "encoder_num_layers encoder_seq_length exp_avg_dtype exp_avg_sq_dtype "
     "experimental_attention_variant expert_interval expert_model_parallel_size "
     "expert_tensor_parallel_num_weight_shards expert_tensor_parallel_size external_cuda_graph "
     "ffn_hidden_size fine_grained_activation_offloading first_last_layers_bf16 fp16 fp4 "
     "fp4_format fp4_param fp4_param_gather fp4_recipe fp8 fp8_dot_product_attention fp8_format "
     "fp8_multi_head_attention fp8_param fp8_param_gather fp8_recipe fp8_wgrad gated_linear_unit "
     "global_batch_size grad_reduce_in_bf16 grad_reduce_in_fp32 gradient_accumulation_fusion "
     "group_query_attention hidden_dropout hidden_size hierarchical_context_parallel_sizes "
     "hybrid_attention_ratio hybrid_context_parallel hybrid_layer_pattern hybrid_mlp_ratio "
     "hybrid_override_pattern is_hybrid_model kv_channels kv_lora_rank layernorm_epsilon "
     "layernorm_zero_centered_gamma linear_attention_freq linear_conv_kernel_dim "
     "linear_key_head_dim linear_num_key_heads linear_num_value_heads linear_value_head_dim lr "
     "main_grads_dtype main_params_dtype make_vocab_size_divisible_by mamba_chunk_size "
     "mamba_d_conv mamba_expand mamba_head_dim mamba_num_groups mamba_num_heads mamba_state_dim "
     "max_position_embeddings max_seqlen_per_dp_cp_rank micro_batch_size "
     "microbatch_group_size_per_virtual_pipeline_stage microbatch_group_size_per_vp_stage "
     "min_offloaded_tensor_size mlp_type model_parallel_size moe_aux_loss_coeff "
     "moe_enable_deepep moe_expert_capacity_factor moe_ffn_hidden_size "
     "moe_flex_dispatcher_backend moe_latent_size moe_layer_freq moe_router_dtype "
     "moe_router_enable_expert_bias moe_router_force_load_balancing moe_router_group_topk "
     "moe_router_load_balancing_type moe_router_num_groups moe_router_pre_softmax "
     "moe_router_score_function moe_router_topk moe_router_topk_scaling_factor "
     "moe_shared_expert_gate moe_shared_expert_intermediate_size moe_shared_expert_overlap "
     "moe_token_dispatcher_type moe_z_loss_coeff mtp_hybrid_override_pattern "
     "mtp_loss_scaling_factor mtp_num_layers mtp_use_repeated_layer multi_latent_attention "
     "no_align_grad_reduce no_bias_dropout_fusion no_bias_gelu_fusion no_bias_swiglu_fusion "
     "no_fp8_wgrad no_gradient_accumulation_fusion no_overlap_p2p_communication "
     "no_pad_vocab_size no_position_embedding no_rope_freq no_rope_fusion norm_epsilon "
     "normalization num_attention_heads num_distributed_optimizer_instances num_experts "
     "num_layers num_layers_at_end_in_bf16 num_layers_at_start_in_bf16 "
     "num_layers_in_first_pipeline_stage num_layers_in_last_pipeline_stage "
     "num_layers_per_virtual_pipeline_stage num_moe_experts num_query_groups "
     "num_virtual_stages_per_pipeline_rank offload_modules optimizer optimizer_cpu_offload "
     "overlap_grad_reduce overlap_moe_expert_parallel_comm overlap_p2p_comm "
     "overlap_p2p_communication overlap_param_gather padded_vocab_size "
     "pipeline_model_parallel_layout pipeline_model_parallel_size position_embedding_type "
     "post_mlp_layernorm post_self_attn_layernorm q_lora_rank qk_head_dim qk_l2_norm "
     "qk_layernorm qk_pos_emb_head_dim quick_geglu rampup_batch_size recompute_activations "
     "recompute_granularity recompute_method recompute_modules recompute_num_layers rope_fusion "
     "rotary_base rotary_percent seq_length sequence_parallel softmax_type spec squared_relu "
     "step_batch_size_schedule swiglu tensor_model_parallel_size "
     "tensor_parallel_num_weight_shards tokenizer_model tokenizer_type topk tp_comm_overlap "
     "transformer_impl untie_embeddings_and_output_weights use_distributed_optimizer "
     "use_megatron_fsdp use_precision_aware_optimizer use_rope_scaling "
     "use_rotary_position_embeddings use_sink_attention use_torch_fsdp2 use_tp_pp_dp_mapping "
     "v_head_dim virtual_pipeline_model_parallel_size vocab_size weight_decay "
     "window_attn_skip_freq window_size zero_stage"},
    // clang-format on
};

/// Flags that make a network or a step that is not supported.
constexpr FlagGroup kRefused[] = {
    // clang-format off
    {FlagFate::Refused,
     "the program generates text and does not train",
     "num_tokens_to_generate incoming_requests_per_step incoming_requests_per_sec "
     "inference_repeat_n prompts prompt_file"},
    {FlagFate::Refused,
     "retrieval is not supported",
     "retro_add_retriever retro_project_dir"},
    {FlagFate::Refused,
     "an encoder with its own parallelism is not supported",
     "encoder_pipeline_model_parallel_size encoder_tensor_model_parallel_size"},
    {FlagFate::Refused,
     "encoder-decoder networks are not supported",
     "add_encoder decoder_num_layers"},
    {FlagFate::Refused,
     "heterogeneous layers are not read",
     "heterogeneous_block_specs heterogeneous_layers_config_encoded_json "
     "heterogeneous_layers_config_path"},
    {FlagFate::Refused,
     "several residual streams are not supported",
     "enable_hyper_connections enable_mhc_connections"},
    {FlagFate::Refused,
     "vision networks are not supported",
     "vision_pretraining"},
    {FlagFate::Refused,
     "retrieval encoders are not supported",
     "biencoder_projection_dim biencoder_shared_query_context_model ict_head_size"},
    {FlagFate::Refused,
     "BERT is not supported",
     "bert_no_binary_head"},
    {FlagFate::Refused,
     "adapters are not read from a job; set training.lora",
     "lora_rank peft"},
    {FlagFate::Refused,
     "a reinforcement learning step includes rollouts, which are not modelled",
     "perform_rl_step"},
    {FlagFate::Refused,
     "no weight is trained, but a training step is planned",
     "freeze_all_layers"},
    {FlagFate::Refused,
     "distillation from another network's logits is not supported",
     "export_kd_teacher_load kd_teacher_load logits_load_dir"},
    {FlagFate::Refused,
     "Kitchen's attention kernels are not supported",
     "use_kitchen_attention"},
    {FlagFate::Refused,
     "its file replaces all flags; import that file instead",
     "yaml_cfg"},
    // clang-format on
};

}  // namespace

std::span<const FlagGroup> planned_flags() {
    return kPlanned;
}

std::span<const FlagGroup> refused_flags() {
    return kRefused;
}

}  // namespace debubble::jobs
