#pragma once

#include <string_view>

/// What is known of Megatron-LM's, Megatron-Bridge's and Primus's settings that no key of a
/// scenario says, by their names with underscores.
namespace debubble::jobs {

struct SettingSentence {
    std::string_view name;
    std::string_view sentence;
};

inline constexpr SettingSentence kNotedSettings[] = {
    {"overlap_param_gather_with_optimizer_step",
     "gathers parameters beside the optimizer step, which is not planned"},
    {"defer_embedding_wgrad_compute",
     "the embedding's weight gradients are deferred, which is not planned"},
    {"moe_pad_expert_input_to_capacity",
     "experts are padded to their capacity, which is not "
     "planned"},
    {"ddp_num_buckets", "buckets are planned by --ddp-bucket-size or its default"},
    {"moe_router_topk_limited_devices", "limits of a router to devices are not planned"},
    {"moe_layer_recompute", "recomputes the experts' layers; say it by training.recompute"},
    {"moe_input_jitter_eps", "the router's jitter costs nothing that is planned"},
    {"distribute_saved_activations",
     "kept inputs are spread over tensor ranks, which is not "
     "planned"},
    {"standalone_embedding_stage",
     "the embedding has a stage of its own; say it by parallel.layout"},
    {"window_attn_skip_freq", "windows of some layers only are not planned"},
    {"moe_router_padding_for_fp8", "rows of experts are padded for 8 bits, which is not planned"},
    {"overlap_cpu_optimizer_d2h_h2d",
     "the host's optimizer overlaps with its copies, which is not "
     "planned"},
    {"high_priority_stream_groups", "priorities of streams are not planned"},
    {"patch_primus_pipeline", "Primus's own pipeline: name its schedule by --set schedule=NAME"},
    {"pp_algorithm", "Primus's own pipeline: name its schedule by --set schedule=NAME"},
    {"patch_zero_bubble", "a zero-bubble pipeline: name its schedule by --set schedule=NAME"},
    {"enable_zero_bubble", "a zero-bubble pipeline: name its schedule by --set schedule=NAME"},
    {"enable_primus_turbo", "Primus-Turbo's kernels are not known to the cost model"},
    {"use_megatron_fsdp_double_buffer", "its second buffer is not planned"},
    {"fsdp_double_buffer", "its second buffer is not planned"},
    {"decoupled_weight_decay", "it costs nothing that is planned"},
    {"moe_use_upcycling", "the first weights come from a dense model"},
    {"context_parallel_load_balancing", "it is not planned"},
    {"deterministic_mode", "kernels of fixed order are slower, which is not planned"},
    {"fp16_lm_cross_entropy", "the loss of 16 bits is planned as one of fp32"},
    {"packed_sequence_specs",
     "samples are packed into sequences, whose lengths are not read from a job"},
    {"softmax_type", "the softmax's sinks are said by model.sinks"},
    {"optimizer_offload_fraction", "it counts only with --optimizer-cpu-offload"}};

inline constexpr SettingSentence kRefusedSettings[] = {
    {"hybrid_layer_pattern",
     "layers of several kinds in a pattern are not read from a job; give "
     "the model by --set model=NAME or a file"},
    {"encoder_tensor_model_parallel_size", "encoders with a cut of their own are not planned"},
    {"encoder_pipeline_model_parallel_size", "encoders with a cut of their own are not planned"},
    {"retro_add_retriever", "retrieval beside the network is not planned"},
    {"heterogeneous_layers_config_path",
     "layers from a file of block_configs are not read; give "
     "the model by --set model=FILE"},
    {"experimental_attention_variant",
     "attention of another kind is not read from a job; give the model by --set model=NAME or a "
     "file"},
    {"peft", "adapters are said by training.lora, and are not read from a job"},
    {"lora_rank", "adapters are said by training.lora, and are not read from a job"}};

/// Fields that have a meaning, for "did you mean".
inline constexpr std::string_view kReadSettings[] = {"num_layers",
                                                     "hidden_size",
                                                     "num_attention_heads",
                                                     "num_query_groups",
                                                     "group_query_attention",
                                                     "ffn_hidden_size",
                                                     "kv_channels",
                                                     "max_position_embeddings",
                                                     "seq_length",
                                                     "normalization",
                                                     "norm_epsilon",
                                                     "position_embedding_type",
                                                     "rotary_base",
                                                     "rotary_percent",
                                                     "swiglu",
                                                     "untie_embeddings_and_output_weights",
                                                     "hidden_dropout",
                                                     "attention_dropout",
                                                     "num_experts",
                                                     "moe_router_topk",
                                                     "moe_ffn_hidden_size",
                                                     "moe_layer_freq",
                                                     "multi_latent_attention",
                                                     "tensor_model_parallel_size",
                                                     "pipeline_model_parallel_size",
                                                     "context_parallel_size",
                                                     "expert_model_parallel_size",
                                                     "expert_tensor_parallel_size",
                                                     "sequence_parallel",
                                                     "use_distributed_optimizer",
                                                     "overlap_grad_reduce",
                                                     "overlap_param_gather",
                                                     "micro_batch_size",
                                                     "global_batch_size",
                                                     "recompute_granularity",
                                                     "recompute_method",
                                                     "recompute_num_layers",
                                                     "recompute_modules",
                                                     "recompute_activations",
                                                     "bf16",
                                                     "fp16",
                                                     "fp8_format",
                                                     "fp8_recipe",
                                                     "attention_backend",
                                                     "cross_entropy_loss_fusion",
                                                     "cuda_graph_impl",
                                                     "tp_comm_overlap",
                                                     "optimizer_cpu_offload",
                                                     "vocab_size",
                                                     "tokenizer_type",
                                                     "moe_token_dispatcher_type",
                                                     "pipeline_model_parallel_layout",
                                                     "data_path",
                                                     "save_interval",
                                                     "log_interval",
                                                     "eval_interval",
                                                     "train_iters",
                                                     "weight_decay",
                                                     "clip_grad"};

}  // namespace debubble::jobs
