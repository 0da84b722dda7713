#include "scenarios/jobs/megatron/flags.h"

namespace debubble::jobs {
namespace {

/// Flags whose effect on times or memory is not modelled, and flags that deserve a note although
/// they cost nothing.
constexpr FlagGroup kNoted[] = {
    // clang-format off
    {FlagFate::Noted,
     "the norm of the embedding, with two hidden sizes of parameters, is not modelled",
     "embed_layernorm"},
    {FlagFate::Noted,
     "parameter all-gathers overlap the optimizer step there, which is not modelled",
     "overlap_param_gather_with_optimizer_step"},
    {FlagFate::Noted,
     "embedding weight gradients are deferred, which is not modelled",
     "defer_embedding_wgrad_compute"},
    {FlagFate::Noted,
     "experts are padded to their capacity, which is not modelled",
     "moe_pad_expert_input_to_capacity"},
    {FlagFate::Noted,
     "the tokens of a rank's experts are limited, which is not modelled",
     "moe_expert_rank_capacity_factor"},
    {FlagFate::Noted,
     "tokens of experts are padded for 8 bits, which is not modelled",
     "moe_hybridep_pad_uneven_dispatch_inputs moe_router_padding_for_fp8 "
     "moe_router_padding_for_quantization"},
    {FlagFate::Noted,
     "buckets are planned by --ddp-bucket-size or its default",
     "ddp_num_buckets ddp_pad_buckets_for_high_nccl_busbw pad_buckets_for_high_nccl_busbw"},
    {FlagFate::Noted,
     "device-limited routing is not modelled",
     "moe_router_topk_limited_devices"},
    {FlagFate::Noted,
     "it recomputes the MoE layers; set training.recompute",
     "moe_layer_recompute"},
    {FlagFate::Noted,
     "saved activations are distributed over tensor ranks, which is not modelled",
     "distribute_saved_activations"},
    {FlagFate::Noted,
     "the embedding has its own stage; set parallel.layout",
     "standalone_embedding_stage"},
    {FlagFate::Noted,
     "multi-token prediction has its own stage; set parallel.layout",
     "mtp_standalone"},
    {FlagFate::Noted,
     "the host's optimizer overlaps its copies, which is not modelled",
     "no_pin_cpu_grads no_pin_cpu_params overlap_cpu_optimizer_d2h_h2d "
     "use_torch_optimizer_for_cpu_offload"},
    {FlagFate::Noted,
     "how communication streams and channels share the GPU is not modelled",
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
     "the cost model does not know Primus's kernels",
     "enable_fused_linear_ce enable_primus_turbo enable_turbo_attention_float8 "
     "fp4_use_native_te_autocast fused_padded_mla_attention moe_use_fused_router_with_aux_score "
     "turbo_deepep_num_cu turbo_gemm_backend turbo_grouped_gemm_backend turbo_mega_moe_precision "
     "turbo_sync_free_moe_stage use_fla_fused_gated_norm use_fla_fused_norm_gated "
     "use_turbo_attention use_turbo_fused_act_with_probs use_turbo_gemm use_turbo_grouped_mlp "
     "use_turbo_norm_te_linear use_turbo_parallel_linear use_turbo_permute_padding "
     "use_turbo_rms_norm"},
    {FlagFate::Noted,
     "its second buffer is not modelled",
     "fsdp_db_use_persist_buf_on_alloc_fail fsdp_double_buffer "
     "megatron_fsdp_max_pool_double_buffer use_megatron_fsdp_double_buffer"},
    {FlagFate::Noted,
     "Megatron-FSDP's own types, buffers and outer shards are not modelled",
     "enable_full_sharding_in_hsdp megatron_fsdp_enable_fine_grained_param_gather "
     "megatron_fsdp_grad_comm_dtype megatron_fsdp_main_grads_dtype "
     "megatron_fsdp_main_params_dtype megatron_fsdp_version outer_dp_sharding_strategy "
     "suggested_communication_unit_size"},
    {FlagFate::Noted,
     "parameters stay gathered after the forward; set parallel.reshard",
     "torch_fsdp2_no_reshard_after_forward"},
    {FlagFate::Noted,
     "8-bit transposed weights are kept, which is not modelled",
     "keep_fp8_transpose_cache keep_fp8_weight_transpose_cache"},
    {FlagFate::Noted,
     "gradients are reduced in fp32, which is not modelled",
     "ddp_reduce_scatter_with_fp32_accumulation gtp_remat_reduce_scatter_with_fp32_accumulation"},
    {FlagFate::Noted,
     "load balancing of context parallelism is not modelled",
     "context_parallel_load_balancing"},
    {FlagFate::Noted,
     "deterministic kernels are slower, which is not modelled",
     "batch_invariant_mode deterministic_mode"},
    {FlagFate::Noted,
     "the 16-bit loss is planned in fp32",
     "fp16_lm_cross_entropy output_logit_dtype"},
    {FlagFate::Noted,
     "the head's 8-bit GEMM is planned in 16 bits",
     "fp8_output_proj"},
    {FlagFate::Noted,
     "fp32 residuals are planned in the training's type",
     "fp32_residual_connection"},
    {FlagFate::Noted,
     "a file with per-layer precision is not read",
     "fp4_quantizer_factory fp8_quantizer_factory kitchen_attention_backend kitchen_config_file "
     "kitchen_recipe_number quant_recipe te_precision_config_file use_kitchen"},
    {FlagFate::Noted,
     "lengths of packed samples are not read from a job; set imbalance.sequence",
     "dataloader_inter_document_masking packed_sequence_specs per_dataset_sequences_path "
     "reset_attention_mask sft use_packed_attention"},
    {FlagFate::Noted,
     "it applies only with --optimizer-cpu-offload",
     "optimizer_offload_fraction"},
    {FlagFate::Noted,
     "multi-token prediction depths share hidden states, which is not modelled",
     "mtp_detach_heads mtp_hsm"},
    {FlagFate::Noted,
     "the start of transfers to the host is not modelled",
     "activation_offload_fraction cpu_offloading_activations cpu_offloading_double_buffering "
     "cpu_offloading_retain_pinned_cpu_buffers cpu_offloading_weights "
     "delay_offload_until_cuda_graph delta_offload_bytes_across_pp_ranks "
     "fine_grained_offloading_max_inflight_offloads"},
    {FlagFate::Noted,
     "paged expert activations on the host are not modelled",
     "moe_paged_stash"},
    {FlagFate::Noted,
     "the chunked MLP is planned as a whole",
     "mlp_chunks_for_training"},
    {FlagFate::Noted,
     "8-bit dispatch of experts' tokens is planned in 16 bits",
     "moe_combine_bwd_dtype moe_dispatch_fwd_dtype"},
    {FlagFate::Noted,
     "the overlap of the experts' backward with messages is not modelled",
     "ep_overlap_early_attn_memory_release overlap_dispatch_backward_with_experts_wgrad"},
    {FlagFate::Noted,
     "part of the tensor-parallel overlap is off, but full overlap is planned",
     "disable_tp_comm_bulk_dgrad disable_tp_comm_bulk_wgrad disable_tp_comm_overlap_ag "
     "disable_tp_comm_overlap_rs no_tp_comm_bulk_dgrad no_tp_comm_bulk_wgrad "
     "no_tp_comm_overlap_ag no_tp_comm_overlap_rs tp_comm_atomic_ag tp_comm_atomic_rs "
     "tp_comm_overlap_disable_fc1 tp_comm_overlap_disable_qkv tp_comm_overlap_rs_dgrad"},
    {FlagFate::Noted,
     "Muon is planned with its usual five iterations",
     "muon_num_ns_steps muon_scalar_optimizer muon_tp_mode muon_use_syrk"},
    {FlagFate::Noted,
     "activation gradients of only some layers are kept, which is not modelled",
     "gdp_num_chunk_states_to_recompute num_microbatches_with_partial_activation_checkpoints"},
    {FlagFate::Noted,
     "memory released by the allocator during a step is not modelled",
     "empty_unused_memory_level"},
    {FlagFate::Noted,
     "the choice of experts is forced; set training.router",
     "moe_router_force_biased"},
    {FlagFate::Noted,
     "the fused kernel of the down projections is planned as two GEMMs",
     "mla_down_proj_fusion"},
    {FlagFate::Noted,
     "activations kept in 8 bits are planned in 16 bits",
     "activation_func_fp8_input_store"},
    {FlagFate::Noted,
     "norms that keep their output are planned to keep their input",
     "memory_efficient_layer_norm"},
    {FlagFate::Noted,
     "samples of steps with an incomplete batch are dropped, which is not modelled",
     "decrease_batch_size_if_needed"},
    {FlagFate::Noted,
     "a CUDA graph of the optimizer step is not modelled",
     "optimizer_cuda_graph"},
    {FlagFate::Noted,
     "kernels without the compiler's fusions are not modelled",
     "disable_jit_fuser"},
    {FlagFate::Noted,
     "Mamba kernels that save more are not modelled",
     "disable_mamba_mem_eff_path use_mamba_mem_eff_path"},
    {FlagFate::Noted,
     "additional synchronization of the host with the GPUs is not modelled",
     "train_sync_interval"},
    {FlagFate::Noted,
     "the optimizer's layer-wise layout is planned as ZeRO-1",
     "no_use_layer_wise_param_layout"},
    {FlagFate::NotedOnly,
     "the router's jitter has no modelled cost",
     "moe_input_jitter_eps"},
    {FlagFate::NotedOnly,
     "it has no modelled cost",
     "decoupled_weight_decay qk_clip"},
    {FlagFate::NotedOnly,
     "the initial weights come from a dense model",
     "moe_upcycling_granularity moe_use_upcycling"},
    {FlagFate::NotedOnly,
     "queries and keys are scaled per layer, which costs nothing",
     "apply_query_key_layer_scaling"},
    {FlagFate::NotedOnly,
     "muP does not change any size",
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
