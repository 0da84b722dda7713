#include "scenarios/jobs/megatron/flags.h"

namespace debubble::jobs {
namespace {

/// What changes times or memory by something that the plan does not have, and what is worth a
/// word though it costs nothing.
constexpr FlagGroup kNoted[] = {
    // clang-format off
    {FlagFate::Noted,
     "the norm of the embedding, twice the hidden width of parameters, is not planned",
     "embed_layernorm"},
    {FlagFate::Noted,
     "parameters are gathered beside the optimizer step there, which is not planned",
     "overlap_param_gather_with_optimizer_step"},
    {FlagFate::Noted,
     "the embedding's weight gradients are deferred, which is not planned",
     "defer_embedding_wgrad_compute"},
    {FlagFate::Noted,
     "experts are padded to their capacity, which is not planned",
     "moe_pad_expert_input_to_capacity"},
    {FlagFate::Noted,
     "the rows of a rank's experts have a limit, which is not planned",
     "moe_expert_rank_capacity_factor"},
    {FlagFate::Noted,
     "rows of experts are padded for 8 bits, which is not planned",
     "moe_hybridep_pad_uneven_dispatch_inputs moe_router_padding_for_fp8 "
     "moe_router_padding_for_quantization"},
    {FlagFate::Noted,
     "buckets are planned by --ddp-bucket-size or its default",
     "ddp_num_buckets ddp_pad_buckets_for_high_nccl_busbw pad_buckets_for_high_nccl_busbw"},
    {FlagFate::Noted,
     "limits of a router to devices are not planned",
     "moe_router_topk_limited_devices"},
    {FlagFate::Noted,
     "it recomputes the experts' layers; say it by training.recompute",
     "moe_layer_recompute"},
    {FlagFate::Noted,
     "kept inputs are spread over tensor ranks, which is not planned",
     "distribute_saved_activations"},
    {FlagFate::Noted,
     "the embedding has a stage of its own; say it by parallel.layout",
     "standalone_embedding_stage"},
    {FlagFate::Noted,
     "further tokens are predicted on a stage of their own; say it by parallel.layout",
     "mtp_standalone"},
    {FlagFate::Noted,
     "the host's optimizer overlaps with its copies, which is not planned",
     "no_pin_cpu_grads no_pin_cpu_params overlap_cpu_optimizer_d2h_h2d "
     "use_torch_optimizer_for_cpu_offload"},
    {FlagFate::Noted,
     "how streams and channels of communication share the GPU is not planned",
     "create_all_gather_group disable_symmetric_registration fsdp_manual_registration "
     "gtp_expert_remat_nccl_ub gtp_remat_nccl_ub high_priority_a2a_comm_stream "
     "high_priority_stream_groups moe_deepep_num_sms moe_flex_dispatcher_num_sms "
     "moe_hybridep_num_blocks_permute moe_hybridep_num_blocks_unpermute moe_hybridep_num_sms "
     "moe_hybridep_num_sms_preprocessing moe_ncclep_zero_copy nccl_communicator_config_path "
     "nccl_ub sharp_enabled_group symmetric_ar_type use_nccl_ub use_sharp"},
    {FlagFate::Noted,
     "messages between stages are planned as NCCL's",
     "batch_p2p_comm batch_p2p_communication batch_p2p_sync overlap_p2p_comm_warmup_flush "
     "overlap_p2p_communication_warmup_flush pipeline_model_parallel_comm_backend "
     "use_ring_exchange_p2p variable_seq_lengths"},
    {FlagFate::Noted,
     "a zero-bubble pipeline: name its schedule by --set schedule=NAME",
     "enable_zero_bubble patch_zero_bubble"},
    {FlagFate::Noted,
     "kernels of Primus are not known to the cost model",
     "enable_fused_linear_ce enable_primus_turbo enable_turbo_attention_float8 "
     "fp4_use_native_te_autocast fused_padded_mla_attention moe_use_fused_router_with_aux_score "
     "turbo_deepep_num_cu turbo_gemm_backend turbo_grouped_gemm_backend turbo_mega_moe_precision "
     "turbo_sync_free_moe_stage use_fla_fused_gated_norm use_fla_fused_norm_gated "
     "use_turbo_attention use_turbo_fused_act_with_probs use_turbo_gemm use_turbo_grouped_mlp "
     "use_turbo_norm_te_linear use_turbo_parallel_linear use_turbo_permute_padding "
     "use_turbo_rms_norm"},
    {FlagFate::Noted,
     "its second buffer is not planned",
     "fsdp_db_use_persist_buf_on_alloc_fail fsdp_double_buffer "
     "megatron_fsdp_max_pool_double_buffer use_megatron_fsdp_double_buffer"},
    {FlagFate::Noted,
     "Megatron-FSDP's own types, buffers and outer shards are not planned",
     "enable_full_sharding_in_hsdp megatron_fsdp_enable_fine_grained_param_gather "
     "megatron_fsdp_grad_comm_dtype megatron_fsdp_main_grads_dtype "
     "megatron_fsdp_main_params_dtype megatron_fsdp_version outer_dp_sharding_strategy "
     "suggested_communication_unit_size"},
    {FlagFate::Noted,
     "parameters stay gathered after the forward; say it by parallel.reshard",
     "torch_fsdp2_no_reshard_after_forward"},
    {FlagFate::Noted,
     "weights transposed in 8 bits are kept, which is not planned",
     "keep_fp8_transpose_cache keep_fp8_weight_transpose_cache"},
    {FlagFate::Noted,
     "gradients are summed in fp32 while they travel, which is not planned",
     "ddp_reduce_scatter_with_fp32_accumulation gtp_remat_reduce_scatter_with_fp32_accumulation"},
    {FlagFate::Noted,
     "context parallelism's load balancing is not planned",
     "context_parallel_load_balancing"},
    {FlagFate::Noted,
     "kernels of fixed order are slower, which is not planned",
     "batch_invariant_mode deterministic_mode"},
    {FlagFate::Noted,
     "the loss of 16 bits is planned as one of fp32",
     "fp16_lm_cross_entropy output_logit_dtype"},
    {FlagFate::Noted,
     "the head's product in 8 bits is planned in 16",
     "fp8_output_proj"},
    {FlagFate::Noted,
     "residuals of fp32 are planned in the type of the training",
     "fp32_residual_connection"},
    {FlagFate::Noted,
     "a precision of each layer by a file is not read",
     "fp4_quantizer_factory fp8_quantizer_factory kitchen_attention_backend kitchen_config_file "
     "kitchen_recipe_number quant_recipe te_precision_config_file use_kitchen"},
    {FlagFate::Noted,
     "the lengths of packed samples are not read from a job; they are said by imbalance.sequence",
     "dataloader_inter_document_masking packed_sequence_specs per_dataset_sequences_path "
     "reset_attention_mask sft use_packed_attention"},
    {FlagFate::Noted,
     "it counts only with --optimizer-cpu-offload",
     "optimizer_offload_fraction"},
    {FlagFate::Noted,
     "depths of prediction share hidden states, which is not planned",
     "mtp_detach_heads mtp_hsm"},
    {FlagFate::Noted,
     "when transfers to the host begin is not planned",
     "activation_offload_fraction cpu_offloading_activations cpu_offloading_double_buffering "
     "cpu_offloading_retain_pinned_cpu_buffers cpu_offloading_weights "
     "delay_offload_until_cuda_graph delta_offload_bytes_across_pp_ranks "
     "fine_grained_offloading_max_inflight_offloads"},
    {FlagFate::Noted,
     "experts' rows in pages on the host are not planned",
     "moe_paged_stash"},
    {FlagFate::Noted,
     "the MLP in pieces is planned in one",
     "mlp_chunks_for_training"},
    {FlagFate::Noted,
     "experts' tokens in 8 bits on the wire are planned in 16",
     "moe_combine_bwd_dtype moe_dispatch_fwd_dtype"},
    {FlagFate::Noted,
     "how the backward of experts overlaps with messages is not planned",
     "ep_overlap_early_attn_memory_release overlap_dispatch_backward_with_experts_wgrad"},
    {FlagFate::Noted,
     "a part of the overlap of tensor-parallel messages is off, and all of it is planned",
     "disable_tp_comm_bulk_dgrad disable_tp_comm_bulk_wgrad disable_tp_comm_overlap_ag "
     "disable_tp_comm_overlap_rs no_tp_comm_bulk_dgrad no_tp_comm_bulk_wgrad "
     "no_tp_comm_overlap_ag no_tp_comm_overlap_rs tp_comm_atomic_ag tp_comm_atomic_rs "
     "tp_comm_overlap_disable_fc1 tp_comm_overlap_disable_qkv tp_comm_overlap_rs_dgrad"},
    {FlagFate::Noted,
     "Muon's work is planned by its usual five steps",
     "muon_num_ns_steps muon_scalar_optimizer muon_tp_mode muon_use_syrk"},
    {FlagFate::Noted,
     "gradients of only some layers' activations are kept, which is not planned",
     "gdp_num_chunk_states_to_recompute num_microbatches_with_partial_activation_checkpoints"},
    {FlagFate::Noted,
     "the memory that the allocator gives back in a step is not planned",
     "empty_unused_memory_level"},
    {FlagFate::Noted,
     "which experts are chosen is forced, and loads are said by training.router",
     "moe_router_force_biased"},
    {FlagFate::Noted,
     "the kernel of the down projections is planned as two products",
     "mla_down_proj_fusion"},
    {FlagFate::Noted,
     "activations that are kept in 8 bits are planned in 16",
     "activation_func_fp8_input_store"},
    {FlagFate::Noted,
     "norms that keep their output are planned as keeping their input",
     "memory_efficient_layer_norm"},
    {FlagFate::Noted,
     "samples are left out of steps whose batch does not fit, which is not planned",
     "decrease_batch_size_if_needed"},
    {FlagFate::Noted,
     "the graph of the optimizer step is not planned",
     "optimizer_cuda_graph"},
    {FlagFate::Noted,
     "kernels without the compiler's fusions are not planned",
     "disable_jit_fuser"},
    {FlagFate::Noted,
     "Mamba's kernels that keep more are not planned",
     "disable_mamba_mem_eff_path use_mamba_mem_eff_path"},
    {FlagFate::Noted,
     "the host waits for the GPUs at steps of its own, which is not planned",
     "train_sync_interval"},
    {FlagFate::Noted,
     "the optimizer's layer-wise layout is planned as ZeRO-1",
     "no_use_layer_wise_param_layout"},
    {FlagFate::NotedOnly,
     "the router's jitter costs nothing that is planned",
     "moe_input_jitter_eps"},
    {FlagFate::NotedOnly,
     "it costs nothing that is planned",
     "decoupled_weight_decay qk_clip"},
    {FlagFate::NotedOnly,
     "the first weights come from a dense model",
     "moe_upcycling_granularity moe_use_upcycling"},
    {FlagFate::NotedOnly,
     "queries and keys are scaled by the layer, which costs nothing",
     "apply_query_key_layer_scaling"},
    {FlagFate::NotedOnly,
     "the widths' rules of muP change no size",
     "use_mup"},
    {FlagFate::NotedOnly,
     "residuals are taken after the norm, which costs the same",
     "apply_residual_connection_post_layernorm"},
    // clang-format on
};

}  // namespace

std::span<const FlagGroup> noted_flags() {
    return kNoted;
}

}  // namespace debubble::jobs
