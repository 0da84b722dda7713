#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/jobs/torchtitan/torchtitan.h"
#include "scenarios/jobs/write/job_writer.h"

namespace debubble::jobs {
namespace {

using scenarios::Scenario;

struct TitanName {
    std::string_view name;
    std::string_view torch;
};
constexpr TitanName kTitanNames[] = {
    {"gpipe", "GPipe"},          {"1f1b", "1F1B"},
    {"looped-bfs", "LoopedBFS"}, {"interleaved-1f1b", "Interleaved1F1B"},
    {"zb-v", "ZBVZeroBubble"},   {"interleaved-zb", "InterleavedZeroBubble"},
    {"dualpipe-v", "DualPipeV"}};

void add_flavor(JobWriter& job) {
    const TitanFlavor flavor = titan_flavor_of(job.s.model);
    if (flavor.model.empty()) {
        job.cannot(
            "model",
            "torchtitan's models are defined in Python; none of its known flavors is this network");
        return;
    }
    job.say("model.name", flavor.model);
    job.say("model.flavor", flavor.flavor);
}

void add_titan_schedule(JobWriter& job) {
    const Scenario& s = job.s;
    const auto* known = std::ranges::find_if(
        kTitanNames, [&](const TitanName& one) { return one.name == s.schedule.name; });
    if (s.parallel.pipeline == 1) return;
    if (s.schedule.csv) {
        job.say("parallelism.pipeline_parallel_schedule", "PipelineScheduleMulti");
        job.say("parallelism.pipeline_parallel_schedule_csv", *s.schedule.csv);
    } else if (known == std::end(kTitanNames)) {
        job.cannot(
            "schedule.name",
            fmt::format(
                "PyTorch has no schedule '{}'. Any order with loop placement can be given as a CSV "
                "file (debubble schedule --format csv) by pipeline_parallel_schedule "
                "PipelineScheduleMulti and pipeline_parallel_schedule_csv; V placement follows the "
                "schedule's class (ZBVZeroBubble, DualPipeV), not the CSV, and two directions, "
                "slices and tied gradients cannot be written",
                s.schedule.name));
    } else {
        job.say("parallelism.pipeline_parallel_schedule", std::string(known->torch));
    }
    const std::vector<int> layers = layers_of_stages(s);
    const auto stages = static_cast<std::int64_t>(layers.size());
    if (stages == 0) return;
    const std::vector<std::int64_t> wanted(layers.begin(), layers.end());
    const std::int64_t all = s.model.layers.count();
    const auto weighs = [&](std::int64_t first, std::int64_t last) {
        return titan_partition(all, stages, first, last) == wanted;
    };
    if (weighs(1, 1) || weighs(0, 0)) {
        const int less = weighs(1, 1) ? 1 : 0;
        job.say("parallelism.pipeline_parallel_first_stage_less_layers", less);
        job.say("parallelism.pipeline_parallel_last_stage_less_layers", less);
        if (s.parallel.stages_per_rank > 1)
            job.say("parallelism.pipeline_parallel_layers_per_stage",
                    (all + 2 * less + stages - 1) / stages);
        return;
    }
    job.cannot("parallel.partition",
               "this partition into stages needs module_fqns_per_model_part, which is a list in "
               "the configuration's file");
}

void add_titan_cut(JobWriter& job) {
    const scenarios::Parallel& p = job.s.parallel;
    job.say("parallelism.tensor_parallel_degree", p.tensor);
    job.say("parallelism.pipeline_parallel_degree", p.pipeline);
    job.say("parallelism.context_parallel_degree", p.context);
    const bool shards = p.zero_stage == 3;
    const int copies = shards ? std::min(p.copies(), p.data) : p.data;
    job.say("parallelism.data_parallel_replicate_degree", copies);
    job.say("parallelism.data_parallel_shard_degree", std::max(p.data / copies, 1));
    if (p.zero_stage == 1 || p.zero_stage == 2)
        job.cannot("parallel.zero_stage",
                   "torchtitan shards parameters (ZeRO-3) or nothing; no sharding is written");
    if (p.zero_stage == 3)
        job.say("parallelism.fsdp_reshard_after_forward", p.reshard ? "always" : "never");
    if (!p.sequence && p.tensor > 1)
        job.cannot("parallel.sequence",
                   "torchtitan always uses sequence parallelism with tensor parallelism");
    if (p.expert > 1) {
        job.say("parallelism.expert_parallel_degree", p.expert);
        job.say("parallelism.expert_tensor_parallel_degree", p.expert_tensor);
    }
    if (p.context > 1)
        job.say("parallelism.context_parallel_rotate_method",
                word_of(job.s.framework.kernels.context_communication) == "all-to-all"
                    ? "alltoall"
                    : "allgather");
}

void add_titan_training(JobWriter& job) {
    const scenarios::Training& t = job.s.training;
    const scenarios::Parallel& p = job.s.parallel;
    const bool pipeline = p.pipeline > 1;
    const int local = t.global_batch / p.data;
    job.say("training.local_batch_size", pipeline ? local : t.micro_batch);
    if (pipeline) job.say("parallelism.pipeline_parallel_microbatch_size", t.micro_batch);
    job.say("training.global_batch_size", t.global_batch);
    job.say("training.seq_len", t.seq_length);
    const scenarios::Precision& q = t.precision;
    using models::DataType;
    if (q.recipe == models::Recipe::Fp8Current || q.recipe == models::Recipe::Fp8Rowwise) {
        job.say("model.converters", "quantize.linear.float8");
        if (q.recipe == models::Recipe::Fp8Rowwise)
            job.say("quantize.linear.float8.recipe_name", "rowwise");
        if (q.param_gather == scenarios::ParamGather::Fp8)
            job.flag("quantize.linear.float8.enable_fsdp_float8_all_gather", true);
    } else if (q.recipe == models::Recipe::MxFp8) {
        job.say("model.converters", "quantize.linear.mx");
    } else if (q.recipe != models::Recipe::None) {
        job.cannot("training.precision", "torchtitan supports fp8 (tensorwise, rowwise) and mxfp8");
    }
    if (q.compute == DataType::Fp16)
        job.cannot("training.precision", "torchtitan trains in bf16 or fp32");
    if (q.compute == DataType::Bf16 && !q.main_params) job.say("training.dtype", "bfloat16");
    if (q.compute == DataType::Fp32) job.say("training.mixed_precision_param", "float32");
    if (job.s.gradients_on_the_wire() == DataType::Bf16 && p.zero_stage == 3 && q.main_params)
        job.say("training.mixed_precision_reduce", "bfloat16");
    switch (t.recompute) {
        case models::Recompute::None: job.say("activation_checkpoint.mode", "none"); break;
        case models::Recompute::Products:
            job.say("activation_checkpoint.mode", "selective");
            job.say("activation_checkpoint.selective_ac_option", "op");
            break;
        case models::Recompute::Full: job.say("activation_checkpoint.mode", "full"); break;
        case models::Recompute::Selective:
        case models::Recompute::Modules:
            job.say("activation_checkpoint.mode", "none");
            job.cannot("training.recompute",
                       "torchtitan recomputes whole layers or operator by operator, not modules");
    }
    if (t.offload_optimizer) job.flag("training.enable_cpu_offload", true);
    if (t.dropout.value_or(job.s.model.dropout) > 0)
        job.cannot("training.dropout", "torchtitan's networks have no dropout");
    if (scenarios::weight_decay_of(t.run.optimizer) == scenarios::WeightDecayOf::Matrices)
        job.cannot("training.optimizer.weight_decay_of", "torchtitan decays all parameters");
    const scenarios::OptimizerKind kind = job.s.framework.optimizer;
    job.say("optimizer.implementation", kind == scenarios::OptimizerKind::FusedAdam ? "fused"
                                        : kind == scenarios::OptimizerKind::ForeachAdam
                                            ? "foreach"
                                            : "for-loop");
    if (job.s.framework.tensor_overlap) job.flag("parallelism.enable_async_tensor_parallel", true);
}

}  // namespace

std::string write_torchtitan(JobWriter& job) {
    add_flavor(job);
    add_titan_cut(job);
    add_titan_schedule(job);
    add_titan_training(job);
    std::string out = "ARGS=(\n";
    for (const Field& field : job.fields)
        out += field.is_flag ? fmt::format("    --{}\n", field.name)
                             : fmt::format("    --{} {}\n", field.name, field.value);
    out += ")\n";
    return out + fmt::format("{} -m torchtitan.train \"${{ARGS[@]}}\" \"$@\"\n", launcher(job.s));
}

}  // namespace debubble::jobs
