#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/jobs/write/job_writer.h"
#include "scenarios/plan/derived.h"

namespace debubble::jobs {
namespace {

using models::DataType;

std::string zero_part(JobWriter& job) {
    const scenarios::Scenario& s = job.s;
    const scenarios::Parallel& p = s.parallel;
    const int stage = p.pipeline > 1 ? std::min(p.zero_stage, 1) : p.zero_stage;
    if (stage != p.zero_stage)
        job.cannot("parallel.zero_stage",
                   "DeepSpeed's pipelines support ZeRO 0 or 1; 1 is written");
    const std::int64_t bytes = models::size_of(s.training.precision.grads);
    // Passes that gather overlap their messages in every plan, whatever overlap_grad_reduce says.
    std::string out = fmt::format(
        "    \"zero_optimization\": {{\n        \"stage\": {},\n        \"overlap_comm\": {},\n"
        "        \"reduce_bucket_size\": {}",
        stage, (stage == 3 && p.gathers_in_passes()) || s.framework.overlap_grad_reduce,
        s.framework.grad_bucket.count / bytes);
    if (p.copies() > 1 && p.zero_stage > 0)
        out += fmt::format(",\n        \"mics_shard_size\": {}", p.shards());
    if (const auto limits = scenarios::gather_limits(s); limits && stage == 3)
        for (const auto& [limit, name] : scenarios::kStage3Limits)
            out += fmt::format(",\n        \"{}\": {}", name,
                               (scenarios::given(*limits).*limit).value_or(0));
    if (s.training.offload_optimizer)
        out += ",\n        \"offload_optimizer\": {\"device\": \"cpu\"}";
    return out + "\n    }";
}

std::string types_part(JobWriter& job) {
    const scenarios::Precision& p = job.s.training.precision;
    std::string out;
    if (p.compute == DataType::Fp16) {
        const scenarios::LossScaleOptions scale =
            job.s.training.run.loss_scale.value_or(scenarios::LossScaleOptions{});
        out += fmt::format(
            ",\n    \"fp16\": {{\"enabled\": true, \"loss_scale\": 0, "
            "\"initial_scale_power\": {}, \"loss_scale_window\": {}, "
            "\"hysteresis\": {}, \"min_loss_scale\": {}}}",
            std::lround(std::log2(scale.initial_scale)), scale.growth_interval, scale.hysteresis,
            scale.min_scale);
    }
    if (p.compute == DataType::Bf16) out += ",\n    \"bf16\": {\"enabled\": true}";
    if (p.compute != DataType::Fp32 && p.grads == DataType::Fp32)
        out += ",\n    \"data_types\": {\"grad_accum_dtype\": \"fp32\"}";
    if (p.recipe != models::Recipe::None)
        job.cannot("training.precision", "DeepSpeed's configuration does not support 8-bit GEMMs");
    return out;
}

void name_limits(JobWriter& job) {
    const scenarios::Scenario& s = job.s;
    const scenarios::Parallel& p = s.parallel;
    if (p.pipeline > 1) {
        job.cannot("parallel.pipeline",
                   fmt::format("the pipeline is defined in Python: PipelineModule(layers, "
                               "num_stages={}, partition_method='uniform')",
                               p.pipeline));
        if (s.schedule.name != "1f1b" || p.stages_per_rank > 1 || p.zero_stage > 1)
            job.cannot("schedule.name",
                       "DeepSpeed pipelines are 1F1B, one stage per rank, ZeRO 0 "
                       "or 1");
        if (const std::vector<int> layers = layers_of_stages(s); !is_even(layers))
            job.cannot(
                "parallel.partition",
                fmt::format(
                    "PipelineModule's partition_method must give the layers of the stages: {}",
                    fmt::join(layers, ", ")));
    }
    job.cannot("model", "the model is defined in Python: give its config.json with the job");
    job.cannot("training.seq_length", "the sequence length is set in Python");
    if (s.training.recompute != models::Recompute::None)
        job.cannot("training.recompute",
                   "recomputation is set in Python (deepspeed.checkpointing.checkpoint)");
    if (p.sequence)
        job.cannot("parallel.sequence",
                   "DeepSpeed does not support sequence parallelism inside the tensor group");
    if (p.expert > 1)
        job.cannot(
            "parallel.expert",
            fmt::format("expert parallelism is set in Python: MoE(..., ep_size={})", p.expert));
}

}  // namespace

std::string write_deepspeed(JobWriter& job) {
    const scenarios::Scenario& s = job.s;
    const scenarios::Training& t = s.training;
    name_limits(job);
    std::string out = fmt::format(
        "{{\n    \"train_batch_size\": {},\n    \"train_micro_batch_size_per_gpu\": {},\n    "
        "\"gradient_accumulation_steps\": {}",
        t.global_batch, t.micro_batch, t.micro_batches);
    if (s.parallel.tensor > 1)
        out +=
            fmt::format(",\n    \"tensor_parallel\": {{\"autotp_size\": {}}}", s.parallel.tensor);
    if (s.parallel.context > 1 && !divides_heads(s))
        job.cannot(
            "parallel.context",
            fmt::format("DeepSpeed uses all-to-all over heads, which {} ranks cannot share evenly",
                        s.parallel.tensor * s.parallel.context));
    else if (s.parallel.context > 1)
        out += fmt::format(",\n    \"sequence_parallel_size\": {}", s.parallel.context);
    out += types_part(job);
    if (scenarios::weight_decay_of(t.run.optimizer) == scenarios::WeightDecayOf::Matrices)
        job.cannot("training.optimizer.weight_decay_of",
                   "parameter groups are defined in Python: DeepSpeed's optimizer decays all that "
                   "it is given");
    const bool torch = s.framework.optimizer != scenarios::OptimizerKind::FusedAdam;
    out += fmt::format(
        ",\n    \"optimizer\": {{\"type\": \"AdamW\", \"params\": {{\"torch_adam\": "
        "{}}}}},\n",
        torch);
    return out + zero_part(job) + "\n}\n";
}

}  // namespace debubble::jobs
