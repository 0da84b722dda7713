#include "scenarios/jobs/megatron/flags.h"

namespace debubble::jobs {
namespace {

/// Flags that do not affect a plan, by reason.
constexpr FlagGroup kHarmless[] = {
    // clang-format off
    {FlagFate::Harmless,
     "Checkpoints are written and read between steps.",
     "async_ckpt_cpu_priority async_ckpt_io_priority async_ckpt_use_cpu_shm async_save "
     "async_strategy auto_detect_ckpt_format ckpt_assume_constant_structure ckpt_convert_format "
     "ckpt_convert_save ckpt_convert_update_legacy_dist_opt_format "
     "ckpt_drop_redundant_extra_state ckpt_format ckpt_fully_parallel_load "
     "ckpt_fully_parallel_load_exchange_algo ckpt_fully_parallel_load_per_rank_objects "
     "ckpt_fully_parallel_load_process_group ckpt_fully_parallel_save "
     "ckpt_fully_parallel_save_process_group ckpt_pg_tensors_cache_create "
     "ckpt_pg_tensors_cache_path ckpt_step disable_ckpt_load_validate_sharding_integrity "
     "disable_msc disable_save_tokenizer_assets disable_strict_fsdp_dtensor_load "
     "disable_use_tokenizer_model_from_checkpoint_args dist_ckpt_format "
     "dist_ckpt_optim_fully_reshardable dist_ckpt_save_pre_mcore_014 dist_ckpt_strictness "
     "dist_ckpt_workers distrib_optim_fully_reshardable_mem_efficient enable_msc "
     "exit_on_missing_checkpoint finetune load load_main_params_from_ckpt "
     "no_ckpt_fully_parallel_save no_ckpt_load_validate_sharding_integrity no_load_optim "
     "no_load_rng no_save_optim no_save_rng no_save_tokenizer_assets no_strict_fsdp_dtensor_load "
     "no_use_tokenizer_model_from_checkpoint_args non_persistent_ckpt_type "
     "non_persistent_global_ckpt_dir non_persistent_local_ckpt_algo non_persistent_local_ckpt_dir "
     "non_persistent_save_interval override_ckpt_iteration persistent_save_interval "
     "pretrained_checkpoint replication replication_factor replication_jump save "
     "save_activations_interval save_dgrads_interval save_interval save_params_interval "
     "save_retain_interval save_tokens_per_expert_interval save_wgrads_interval "
     "use_checkpoint_args use_dist_ckpt use_mp_args_from_checkpoint_args "
     "use_persistent_ckpt_worker verify_integrity"},
    {FlagFate::Harmless,
     "Data sources and their loading on the host do not change a step.",
     "allow_ambiguous_pad_tokens chat_template data_args_path data_cache_path data_path "
     "dataloader_defer_npy_index_mmap dataloader_fast_cache_load dataloader_type "
     "disable_tokenizer_sentencepiece_ignore_extra_whitespaces eod_mask_loss fim_data "
     "fim_eod_token fim_fragment_rate fim_middle_token fim_no_prefix fim_pad_token "
     "fim_prefix_token fim_rate fim_split_sample fim_spm_rate fim_suffix_token mask_prob "
     "merge_file mid_level_dataset_surplus mock_data no_create_attention_mask_in_dataloader "
     "no_mmap_bin_files no_tokenizer_sentencepiece_ignore_extra_whitespaces null_tokenizer_eod_id "
     "null_tokenizer_pad_id num_dataset_builder_threads num_workers object_storage_cache_path "
     "per_split_data_args_path phase_transition_iterations reset_position_ids sample_rate "
     "sft_tokenizer_prompt_format short_seq_prob split test_data_path tiktoken_num_special_tokens "
     "tiktoken_pattern tokenizer_hf_no_include_special_tokens tokenizer_hf_no_use_fast "
     "tokenizer_hf_use_fast tokenizer_metadata tokenizer_sentencepiece_legacy "
     "tokenizer_special_tokens train_data_path trust_remote_code use_gigatoken valid_data_path "
     "vocab_file"},
    {FlagFate::Harmless,
     "Logs and counters of the host do not change a plan.",
     "app_tag_run_name app_tag_run_version config_logger_dir "
     "disable_log_loss_scale_to_tensorboard disable_straggler_on_startup log_device_memory_used "
     "log_energy log_interval log_max_attention_logit log_memory_interval "
     "log_memory_to_tensorboard log_num_zeros_in_grad log_params_norm log_progress log_straggler "
     "log_throughput log_timers_to_tensorboard log_validation_ppl_to_tensorboard "
     "log_world_size_to_tensorboard logging_level moe_routing_trace_capture_hidden_states "
     "moe_routing_trace_capture_logits moe_routing_trace_dump_weights "
     "moe_routing_trace_max_training_iters moe_routing_trace_path "
     "no_log_loss_scale_to_tensorboard no_one_logger one_logger_async one_logger_project "
     "one_logger_run_name otel_enabled otel_service_name otel_span_groups "
     "run_workload_inspector_server straggler_ctrlr_port straggler_minmax_count tensorboard_dir "
     "tensorboard_log_interval tensorboard_queue_size timing_log_level timing_log_option "
     "wandb_entity wandb_exp_name wandb_project wandb_save_dir"},
    {FlagFate::Harmless,
     "Profilers and snapshots are not modelled.",
     "dump_param_to_param_group_map memory_snapshot_path nvtx_ranges profile profile_ranks "
     "profile_step_end profile_step_start pytorch_profiler_collect_callstack "
     "pytorch_profiler_collect_chakra pytorch_profiler_collect_shapes record_memory_history "
     "record_shapes use_pytorch_profiler"},
    {FlagFate::Harmless,
     "The learning rate and the optimizer's factors cost nothing.",
     "adam_eps apply_wd_to_qk_layernorm decoupled_lr decoupled_min_lr end_weight_decay lion_beta1 "
     "lion_beta2 lr_decay_iters lr_decay_samples lr_decay_style lr_warmup_fraction lr_warmup_init "
     "lr_warmup_iters lr_warmup_samples lr_wsd_decay_iters lr_wsd_decay_samples "
     "lr_wsd_decay_style min_lr muon_coefficient_type muon_extra_scale_factor "
     "muon_fp32_matmul_prec muon_momentum muon_nesterov muon_no_split_qkv muon_scale_mode "
     "no_weight_decay_cond_type override_opt_param_scheduler sgd_momentum start_weight_decay "
     "use_checkpoint_opt_param_scheduler warmup weight_decay_incr_style"},
    {FlagFate::Harmless,
     "Initial weights, seeds and random states do not change a step.",
     "data_parallel_random_init embedding_init_method embedding_init_method_std "
     "inference_rng_tracker inference_sampling_seed init_method init_method_std "
     "init_method_xavier_uniform init_model_with_meta_device no_initialization "
     "output_layer_init_method perform_initialization seed te_rng_tracker use_cpu_initialization "
     "use_te_rng_tracker"},
    {FlagFate::Harmless,
     "The length of the training and its evaluations are outside a step.",
     "eval_global_batch_size eval_interval eval_iters eval_micro_batch_size full_validation "
     "multiple_validation_sets skip_train start_eval_at_iter test_mode train_iters train_samples "
     "validation_set_names"},
    {FlagFate::Harmless,
     "The end, failures and restarts of a job are outside a step.",
     "adlr_autoresume adlr_autoresume_interval calc_ft_timeouts check_for_large_grads "
     "check_for_spiky_loss check_weight_hash_across_dp_replicas_interval disable_manual_gc_eval "
     "enable_ft_package error_injection_rate error_injection_type exit_duration_in_mins "
     "exit_interval exit_signal exit_signal_handler exit_signal_handler_for_dataloader "
     "exit_signal_handler_for_training fault_injector_delay_start_iteration "
     "fault_injector_fault_delay fault_injector_fault_probabilities fault_injector_fault_types "
     "fault_injector_mtti_seconds fault_injector_num_ranks fault_injector_offset_seconds "
     "fault_injector_ranks fault_injector_seed ft_num_warmup_iters gpu_sniff_test_interval "
     "inprocess_active_world_size inprocess_barrier_timeout inprocess_completion_timeout "
     "inprocess_empty_cuda_cache inprocess_granularity inprocess_hard_timeout "
     "inprocess_heartbeat_interval inprocess_heartbeat_timeout inprocess_last_call_wait "
     "inprocess_max_iterations inprocess_monitor_process_interval "
     "inprocess_monitor_thread_interval inprocess_progress_watchdog_interval inprocess_restart "
     "inprocess_soft_timeout inprocess_termination_grace_time iterations_to_skip "
     "no_manual_gc_eval rerun_mode result_rejected_tracker_filename"},
    {FlagFate::Harmless,
     "The rendezvous of processes is outside a step.",
     "ddp_average_in_collective ddp_param_name_patterns_for_fp32_local_accumulation "
     "disable_flight_recorder_dump_on_timeout disable_flight_recorder_extra_dump_on_exec "
     "disable_flight_recorder_include_only_active disable_gloo_process_groups distributed_backend "
     "distributed_timeout_minutes distributed_timeout_seconds_after_init fake_process_group "
     "flight_recorder_dump_path flight_recorder_include_stack_trace "
     "flight_recorder_trace_buffer_size lazy_mpu_init local_rank "
     "no_flight_recorder_dump_on_timeout no_flight_recorder_extra_dump_on_exec "
     "no_flight_recorder_include_only_active"},
    {FlagFate::Harmless,
     "Loss scaling and the type of a softmax cost next to nothing.",
     "attention_softmax_in_fp32 hysteresis initial_loss_scale loss_scale loss_scale_window "
     "min_loss_scale"},
    {FlagFate::Harmless,
     "Margins and histories of 8-bit scales cost next to nothing.",
     "disable_bf16_reduced_precision_matmul disable_parameter_transpose_cache "
     "fp8_amax_compute_algo fp8_amax_history_len fp8_interval fp8_margin tp_only_amax_red"},
    {FlagFate::Harmless,
     "The router's parameters do not affect its cost.",
     "moe_apply_probs_on_input moe_enable_routing_replay moe_per_layer_logging "
     "moe_router_bias_update_rate moe_router_quantile_balancing_ema moe_token_drop_policy "
     "moe_token_dropping"},
    {FlagFate::Harmless,
     "RoPE parameters do not affect its cost.",
     "beta_fast beta_slow cache_mla_latents mrope_section mscale mscale_all_dim "
     "no_yarn_correction_range_round_to_int original_max_position_embeddings rope_scaling_factor "
     "rope_type rotary_interleaved rotary_scaling_factor rotary_seq_len_interpolation_factor "
     "yarn_beta_fast yarn_beta_slow yarn_correction_range_round_to_int "
     "yarn_original_max_position_embeddings"},
    {FlagFate::Harmless,
     "It applies only to networks selected by other flags, by which they are refused or planned.",
     "activation_func_clamp_value bert_load block_data_path classes_fraction "
     "data_per_class_fraction decoder_seq_length dino_bottleneck_size dino_freeze_last_layer "
     "dino_head_hidden_size dino_local_crops_number dino_local_img_size dino_norm_last_layer "
     "dino_teacher_temp dino_warmup_teacher_temp dino_warmup_teacher_temp_epochs "
     "disable_dsa_indexer_rotate_activation disable_dsa_indexer_scoring_relu "
     "disable_tp_comm_split_ag disable_tp_comm_split_rs dsa_indexer_head_dim "
     "dsa_indexer_k_norm_epsilon dsa_indexer_k_norm_fp32 dsa_indexer_loss_coeff "
     "dsa_indexer_n_heads dsa_indexer_rope_interleaved dsa_indexer_rotate_activation "
     "dsa_indexer_scoring_relu dsa_indexer_skip_topk_offset dsa_indexer_topk "
     "dsa_indexer_topk_freq dsa_indexer_use_sparse_loss dsa_kernel_backend embedding_path "
     "evidence_data_path experimental_attention_variant_loss_scale_func "
     "expert_gtp_weight_remat_size gdp_cutedsl_kernel gdp_num_householder glu_linear_offset "
     "grpo_clamp_eps_lower grpo_clamp_eps_upper grpo_entropy_term_weight "
     "grpo_filter_groups_with_same_reward grpo_group_size grpo_iterations grpo_kl_beta "
     "grpo_prompts_per_step gtp_remat_opt_in_modules gtp_weight_remat_size head_lr_mult ict_load "
     "img_h img_w indexer_batch_size indexer_log_interval iter_per_epoch langrl_env_config "
     "logits_load_decode_threads logits_load_ignore_errors logits_load_kd_loss_alpha "
     "logits_load_msc_prefetch_depth logits_load_prefetch_factor mamba_training_ssm_states_dtype "
     "mask_factor mask_type mhc_init_gating_factor mhc_num_residual_streams "
     "mhc_recompute_layer_num mhc_sinkhorn_iterations moe_mlp_glu_interleave_size "
     "moe_paged_stash_buffer_size_factor_cpu moe_paged_stash_buffer_size_factor_cuda "
     "moe_paged_stash_page_size moe_shared_expert_glu_interleave_size mup_attn_scale_power "
     "mup_base_head_dim mup_base_hidden_size mup_embedding_mult mup_output_mult mup_width_mult "
     "no_data_sharding no_dsa_indexer_rotate_activation no_dsa_indexer_scoring_relu "
     "no_rl_inference_logprobs_is_correction no_rl_offload_inference_model_weights_when_idle "
     "no_rl_partial_rollouts no_rl_persist_cuda_graphs no_rl_skip_bos_token "
     "no_rl_training_cuda_graphs no_rl_use_sequence_packing no_rl_verify_model_weights_swap "
     "no_tp_comm_split_ag no_tp_comm_split_rs num_channels num_classes patch_dim qk_clip_alpha "
     "qk_clip_threshold query_in_block_prob refit_method relative_attention_max_distance "
     "relative_attention_num_buckets retriever_report_topk_accuracies retriever_score_scaling "
     "rl_consumption_granularity rl_default_temperature rl_default_top_k rl_default_top_p "
     "rl_durable_rollout_bank rl_generation_lag rl_importance_sampling_truncation_coef "
     "rl_inference_expert_model_parallel_size rl_inference_expert_tensor_model_parallel_size "
     "rl_inference_logprobs_is_correction rl_inference_model_unified_memory_level "
     "rl_inference_parsers rl_inference_pipeline_model_parallel_size "
     "rl_inference_tensor_model_parallel_size rl_kv_cache_management_mode "
     "rl_max_inflight_requests rl_offload_inference_model_weights_when_idle "
     "rl_offload_optimizer_during_inference rl_partial_rollouts rl_persist_cuda_graphs rl_profile "
     "rl_profile_dir rl_prompts_per_eval rl_rollout_bank_dir rl_rollout_bank_max_bytes "
     "rl_sequence_packing_algo rl_sequence_packing_max_sequences_per_bin rl_skip_bos_token "
     "rl_submission_granularity rl_training_cuda_graphs rl_use_sequence_packing "
     "rl_verify_model_weights_swap swin_backbone_type titles_data_path tp_comm_bootstrap_backend "
     "tp_comm_bulk_dgrad tp_comm_bulk_wgrad tp_comm_overlap_ag tp_comm_overlap_cfg "
     "tp_comm_overlap_rs tp_comm_split_ag tp_comm_split_rs use_one_sent_docs vision_backbone_type "
     "vision_pretraining_type vocab_extra_ids wgrad_deferral_limit"},
    {FlagFate::Harmless,
     "Logits are saved outside the step.",
     "logits_save_dir logits_save_dtype logits_save_top_k logits_save_top_p "
     "logits_save_top_p_min_k"},
    {FlagFate::Harmless,
     "Inference is not part of a training step.",
     "batch_invariant_backend bert_embedder_type decode_only_cuda_graphs enable_chunked_prefill "
     "flash_decode inference_batch_times_seqlen_threshold inference_coordinator_port "
     "inference_cuda_graph_all_prefills inference_cuda_graph_max_tokens "
     "inference_cuda_graph_scope inference_disable_ep_consensus "
     "inference_disable_triton_nvls_kernels inference_dynamic_batching "
     "inference_dynamic_batching_async_sched_mode inference_dynamic_batching_block_size "
     "inference_dynamic_batching_buffer_size_gb "
     "inference_dynamic_batching_cuda_graph_mixed_prefill_count "
     "inference_dynamic_batching_cuda_graph_sizing_distribution "
     "inference_dynamic_batching_logprobs_mode inference_dynamic_batching_mamba_memory_ratio "
     "inference_dynamic_batching_max_requests inference_dynamic_batching_max_tokens "
     "inference_dynamic_batching_num_cuda_graphs inference_dynamic_batching_paused_buffer_size_gb "
     "inference_dynamic_batching_prefix_caching "
     "inference_dynamic_batching_prefix_caching_coordinator_policy "
     "inference_dynamic_batching_prefix_caching_eviction_policy "
     "inference_dynamic_batching_prefix_caching_mamba_gb "
     "inference_dynamic_batching_prefix_caching_routing_alpha "
     "inference_dynamic_batching_sampling_backend "
     "inference_dynamic_batching_track_generated_token_events "
     "inference_dynamic_batching_track_paused_request_events "
     "inference_dynamic_batching_unified_memory_level inference_fuse_tp_communication "
     "inference_grouped_gemm_backend inference_logging_step_interval inference_max_requests "
     "inference_max_seq_length inference_moe_disable_fused_quant_kernels "
     "inference_moe_token_dispatcher_type inference_shards inference_text_gen_server_logging "
     "inference_use_synchronous_zmq_collectives inference_wandb_logging "
     "mamba_inference_conv_states_dtype mamba_inference_ssm_states_dtype max_tokens_to_oom "
     "mlp_chunks_for_prefill moe_pad_experts_for_cuda_graph_inference nccl_all_reduce_for_prefill "
     "no_inference_disable_ep_consensus no_inference_dynamic_batching_prefix_caching "
     "no_inference_text_gen_server_logging no_inference_use_synchronous_zmq_collectives "
     "no_inference_wandb_logging num_speculative_tokens output_bert_embeddings "
     "use_inference_optimized_layers use_legacy_static_engine "
     "use_same_sampling_seed_across_dp_ranks"},
    {FlagFate::Harmless,
     "The planned kernels are those that it selects, or cost the same.",
     "clone_scatter_output_in_embedding cuda_graph_retain_backward_graph "
     "cuda_graph_use_single_mempool cuda_graph_warmup_steps deallocate_pipeline_outputs "
     "disable_clone_scatter_output_in_embedding flash_attention_version fused_residual_rmsnorm "
     "fused_single_qkv_rope masked_softmax_fusion moe_grouped_gemm moe_permute_fusion "
     "moe_permute_fusion_into_hybridep moe_router_fusion moe_single_grouped_bias "
     "moe_single_grouped_weight moe_use_grouped_tensor no_clone_scatter_output_in_embedding "
     "no_gradient_reduce_div_fusion no_masked_softmax_fusion no_persist_layer_norm onnx_safe "
     "openai_gelu persist_layer_norm reuse_grad_buf_for_mxfp8_param_ag use_flash_attn "
     "use_fused_weighted_squared_relu use_grouped_gemm_for_dense_mlp "
     "use_grouped_gemm_for_shared_expert use_mcore_models use_te_activation_func "
     "use_transformer_engine_op_fuser"},
    {FlagFate::Harmless,
     "Checks and host work cost next to nothing in a step.",
     "barrier_with_L1_time manual_gc manual_gc_interval no_align_param_gather "
     "no_barrier_with_level_1_timing no_check_for_nan_in_loss_and_grad"},
    {FlagFate::Harmless,
     "It is code, or a type given by other settings.",
     "_cpu_offloading_context autocast_dtype enable_autocast enable_experimental "
     "finalize_model_grads_func grad_scale_func grad_sync_func hetereogenous_dist_checkpoint "
     "moe_grad_scale_func mtp_grad_scale_func no_sync_func param_sync_func params_dtype "
     "pipeline_dtype softmax_scale timers"},
    {FlagFate::Harmless,
     "The launcher, the cluster manager and the container are not part of a plan.",
     "account config container_image container_mounts container_name container_workdir cpu_bind "
     "cpus_per_task dump_config error exclusive exp_name export extends framework gpus_per_node "
     "hf_model_path interactive job_name jobid kill_on_bad_exit machine_rank main_process_ip "
     "main_process_port master_addr master_port max_restarts mem model model_type module "
     "monitor_interval mpi nnodes no_python node_rank nodes nproc_per_node ntasks ntasks_per_node "
     "num_nodes num_processes output partition rank rdzv_backend rdzv_conf rdzv_endpoint rdzv_id "
     "redirects role standalone start_method stream tee time trainable user_name work_group "
     "workload_type workspace world_size"},
    {FlagFate::Harmless,
     "Names of Megatron-LM's former versions, of Megatron-Bridge and of Primus for what costs "
     "nothing.",
     "add_position_embedding align_grad_reduce align_param_gather "
     "async_tensor_model_parallel_allreduce average_in_collective barrier_with_l1_time "
     "check_for_nan_in_loss_and_grad data_sharding disable_compile_dependencies "
     "disable_last_saved_time disable_mlflow disable_tensorboard disable_wandb dump_pp_data "
     "enable_gloo_process_groups enable_one_logger expert_bias fp32 ft_package "
     "gradient_reduce_div_fusion high_freq_factor iterations_to_reset load_strict "
     "log_batch_size_to_tensorboard log_dir log_learning_rate_to_tensorboard "
     "log_loss_scale_to_tensorboard log_throughput_to_tensorboard low_freq_factor manual_gc_eval "
     "mmap_bin_files moe_extended_tp moe_use_device_initiated_grouped_gemm "
     "moe_use_legacy_grouped_gemm muon_split_qkv muon_use_nesterov "
     "no_scatter_gather_tensors_in_pipeline no_use_gloo_process_groups old_context_len "
     "parallel_output path_to_cache persistent_workers pin_memory position_embedding pp_warmup "
     "random_seed rl_num_parallel_generations rl_rollout s3_cache_path scale_factor "
     "scatter_gather_tensors_in_pipeline sequence_length should_pad_vocab tensorboard_name "
     "tiktoken_special_tokens torch_compile use_gloo_process_groups use_legacy_models "
     "use_tokenizer_model_from_checkpoint_args use_torch_fsdp2_reshard_after_forward wandb_name "
     "wandb_run_name"},
    {FlagFate::Harmless,
     "Sizes of retrieval, encoders and vision apply only with --retro-add-retriever and similar "
     "flags, which are refused.",
     "retro_attention_gate retro_cyclic_train_iters retro_encoder_attention_dropout "
     "retro_encoder_hidden_dropout retro_encoder_layers retro_num_neighbors "
     "retro_num_retrieved_chunks retro_verify_neighbor_count bert_binary_head"},
    {FlagFate::Harmless,
     "Logs, files and the end of a job, with Primus's and Megatron-DeepSpeed's names.",
     "auto_continue_train disable_last_saving empty_cache_interval enable_zb_runtime "
     "file_sink_level fully_parallel_save log_avg_reset_interval log_avg_skip_iterations "
     "mlperf_mode mock_dataset no_load_lr_state query_gpu reset_iteration sink_level "
     "stderr_sink_level torch_profiler_record_shapes torch_profiler_use_gzip "
     "torch_profiler_with_stack train_tokens universal_checkpoint use_rocm_mem_info "
     "use_rocm_mem_info_iters"},
    {FlagFate::Harmless,
     "Fields of Megatron-Bridge that repeat others or select the planned kernels.",
     "hybrid_stack_spec keep_mtp_spec_in_bf16 mamba_stack_spec mtp_enabled "
     "use_arbitrary_attention_mask"},
    // clang-format on
};

}  // namespace

std::span<const FlagGroup> harmless_flags() {
    return kHarmless;
}

}  // namespace debubble::jobs
