#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "text/mapping_reader.h"

/// Keys of the sections of a DeepSpeed file on which plans depend, by the names of DeepSpeed
/// edaa72212 (runtime/zero/config.py, runtime/zero/offload_config.py, runtime/config.py,
/// runtime/precision_config.py, runtime/activation_checkpointing/config.py).
namespace debubble::jobs {
namespace {

constexpr std::string_view kDeepspeedSections[] = {
    "zero_optimization.",        "fp16.",           "bf16.", "pipeline.",
    "activation_checkpointing.", "tensor_parallel."};

/// The first words of all that a file may hold (runtime/constants.py and the sections' own files).
constexpr std::string_view kDeepspeedFirst[] = {"train_batch_size",
                                                "train_micro_batch_size_per_gpu",
                                                "gradient_accumulation_steps",
                                                "optimizer",
                                                "scheduler",
                                                "max_grad_norm",
                                                "gradient_clipping",
                                                "prescale_gradients",
                                                "gradient_predivide_factor",
                                                "sparse_gradients",
                                                "fp16",
                                                "bf16",
                                                "bfloat16",
                                                "amp",
                                                "torch_autocast",
                                                "data_types",
                                                "communication_data_type",
                                                "seq_parallel_communication_data_type",
                                                "disable_allgather",
                                                "zero_optimization",
                                                "zero_allow_untested_optimizer",
                                                "zero_force_ds_cpu_optimizer",
                                                "use_node_local_storage",
                                                "checkpoint",
                                                "load_universal_checkpoint",
                                                "checkpoint_tag_validation",
                                                "activation_checkpointing",
                                                "pipeline",
                                                "tensor_parallel",
                                                "sequence_parallel_size",
                                                "use_data_before_expert_parallelism",
                                                "hybrid_engine",
                                                "compile",
                                                "graph_harvesting",
                                                "aio",
                                                "nebula",
                                                "datastates",
                                                "elasticity",
                                                "autotuning",
                                                "data_efficiency",
                                                "curriculum_learning",
                                                "progressive_layer_drop",
                                                "eigenvalue",
                                                "quantize_training",
                                                "compression_training",
                                                "weight_quantization",
                                                "sparse_attention",
                                                "dataloader_drop_last",
                                                "steps_per_print",
                                                "wall_clock_breakdown",
                                                "memory_breakdown",
                                                "dump_state",
                                                "timers",
                                                "flops_profiler",
                                                "comms_logger",
                                                "tensorboard",
                                                "wandb",
                                                "comet",
                                                "csv_monitor",
                                                "vocabulary_size",
                                                "local_rank",
                                                "zenflow"};

/// They change no plan.
constexpr std::string_view kDeepspeedSilent[] = {
    "zero_optimization.contiguous_gradients",
    "zero_optimization.reduce_scatter",
    "zero_optimization.use_multi_rank_bucket_allreduce",
    "zero_optimization.allgather_partitions",
    "zero_optimization.allgather_bucket_size",
    "zero_optimization.load_from_fp32_weights",
    "zero_optimization.elastic_checkpoint",
    "zero_optimization.sub_group_size",
    "zero_optimization.cpu_offload_use_pin_memory",
    "zero_optimization.stage3_gather_16bit_weights_on_model_save",
    "zero_optimization.stage3_gather_fp16_weights_on_model_save",
    "zero_optimization.ignore_unused_parameters",
    "zero_optimization.legacy_stage1",
    "zero_optimization.round_robin_gradients",
    "zero_optimization.memory_efficient_linear",
    "zero_optimization.pipeline_loading_checkpoint",
    "zero_optimization.override_module_apply",
    "zero_optimization.log_trace_cache_warnings",
    "zero_optimization.enable_sanity_checks",
    "zero_optimization.offload_optimizer.nvme_path",
    "zero_optimization.offload_optimizer.buffer_count",
    "zero_optimization.offload_optimizer.pin_memory",
    "zero_optimization.offload_optimizer.fast_init",
    "zero_optimization.offload_param.nvme_path",
    "zero_optimization.offload_param.buffer_count",
    "zero_optimization.offload_param.buffer_size",
    "zero_optimization.offload_param.pin_memory",
    "fp16.auto_cast",
    "fp16.consecutive_hysteresis",
    "bf16.immediate_grad_update",
    "bf16.check_grad_overflow",
    "pipeline.activation_checkpoint_interval",
    "activation_checkpointing.contiguous_memory_optimization",
    "activation_checkpointing.number_checkpoints",
    "activation_checkpointing.synchronize_checkpoint_boundary",
    "activation_checkpointing.profile"};

/// They change what a plan does not have, unless they have DeepSpeed's default.
constexpr std::pair<std::string_view, std::string_view> kDeepspeedUnplanned[] = {
    {"zero_optimization.zero_hpz_partition_size", "1"},
    {"zero_optimization.mics_hierarchical_params_gather", "false"},
    {"zero_optimization.stage3_module_granularity_threshold", "0"},
    {"zero_optimization.stage3_use_all_reduce_for_fetch_params", "false"},
    {"zero_optimization.cpu_offload", "false"},
    {"zero_optimization.cpu_offload_params", "false"},
    {"zero_optimization.offload_optimizer.ratio", "1.0"},
    {"zero_optimization.offload_optimizer.pipeline_read", "false"},
    {"zero_optimization.offload_optimizer.pipeline_write", "false"},
    {"zero_optimization.offload_param.max_in_cpu", "1000000000"}};

/// They have keys of plans.
constexpr std::string_view kDeepspeedRead[] = {
    "zero_optimization.stage",
    "zero_optimization.overlap_comm",
    "zero_optimization.reduce_bucket_size",
    "zero_optimization.mics_shard_size",
    "zero_optimization.stage3_prefetch_bucket_size",
    "zero_optimization.stage3_max_live_parameters",
    "zero_optimization.stage3_max_reuse_distance",
    "zero_optimization.stage3_param_persistence_threshold",
    "zero_optimization.stage3_model_persistence_threshold",
    "zero_optimization.zero_quantized_weights",
    "zero_optimization.zero_quantized_gradients",
    "zero_optimization.offload_optimizer.device",
    "zero_optimization.offload_param.device"};

std::vector<std::string> known_deepspeed_settings() {
    std::vector<std::string> known(std::begin(kDeepspeedRead), std::end(kDeepspeedRead));
    known.insert(known.end(), std::begin(kDeepspeedSilent), std::end(kDeepspeedSilent));
    for (const auto& [name, usual] : kDeepspeedUnplanned) known.emplace_back(name);
    return known;
}

/// The known setting that the job gives a map, of which `name` is a key; empty if there is none.
std::string map_above(std::string name, const std::vector<std::string>& known) {
    for (std::size_t dot; (dot = name.rfind('.')) != std::string::npos;) {
        name.erase(dot);
        if (std::ranges::find(known, name) != known.end()) return name;
    }
    return {};
}

void note_unknown(Reading& job, const Setting& setting, std::string_view name,
                  const std::vector<std::string>& known) {
    const std::string guess = text::unknown_word("setting", name, known);
    const std::size_t mean = guess.find("; did you mean");
    job.note(fmt::format("{} is not a known setting of DeepSpeed; it is ignored{}",
                         origin_of(setting), mean == std::string::npos ? "" : guess.substr(mean)),
             Harm::Unknown);
}

/// Of no section that plans depend on.
void sort_other_setting(Reading& job, const Setting& setting) {
    const std::string first = setting.name.substr(0, setting.name.find('.'));
    if (std::ranges::find(kDeepspeedFirst, first) != std::end(kDeepspeedFirst))
        return job.count_silent();
    note_unknown(job, setting, first, {std::begin(kDeepspeedFirst), std::end(kDeepspeedFirst)});
}

bool has_usual_value(const Setting& setting, std::string_view usual) {
    if (!setting.value->is(text::Node::Kind::Scalar)) return false;
    const auto number = number_of(setting.value->scalar);
    return setting.value->scalar == usual || (number && number == number_of(std::string(usual)));
}

void sort_deepspeed_setting(Reading& job, const Setting& setting,
                            const std::vector<std::string>& known) {
    if (const std::string above = map_above(setting.name, known); !above.empty())
        return job.refuse(setting, fmt::format("{} takes one value, not a map", above));
    for (const auto& [name, usual] : kDeepspeedUnplanned)
        if (setting.name == name && !has_usual_value(setting, usual))
            return job.note(setting, "this setting of DeepSpeed is not modelled; it is ignored");
    if (std::ranges::find(known, setting.name) != known.end()) return job.count_silent();
    note_unknown(job, setting, setting.name, known);
}

}  // namespace

void sort_deepspeed_left(Reading& job, bool own_file) {
    const std::vector<std::string> known = known_deepspeed_settings();
    for (const Setting* const setting : job.in.left())
        if (std::ranges::any_of(kDeepspeedSections, [&](std::string_view section) {
                return setting->name.starts_with(section);
            }))
            sort_deepspeed_setting(job, *setting, known);
        else if (own_file && setting->name != "num_processes")  // the launcher's
            sort_other_setting(job, *setting);
        else
            job.count_silent();
}

}  // namespace debubble::jobs
