#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/write/job_writer.h"

/// NeMo Automodel's YAML (36044ad3d): a network by its name in the hub under PyTorch's FSDP2 or
/// DistributedDataParallel.
namespace debubble::jobs {
namespace {

using scenarios::Scenario;

/// Automodel's name of a schedule; empty if it has none.
std::string_view automodel_schedule(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"1f1b", "1F1B"},
        {"gpipe", "GPipe"},
        {"interleaved-1f1b", "Interleaved1F1B"},
        {"looped-bfs", "LoopedBFS"},
        {"interleaved-zb", "InterleavedZeroBubble"},
        {"zb-v", "ZBVZeroBubble"},
        {"dualpipe-v", "DualPipeV"}};
    for (const auto& [known, other] : kNames)
        if (name == known) return other;
    return {};
}

std::string pipeline_section(JobWriter& job) {
    const Scenario& s = job.s;
    if (s.parallel.pipeline == 1) return {};
    const std::string_view name = automodel_schedule(s.schedule.name);
    if (name.empty())
        job.cannot("schedule.name", fmt::format("NeMo Automodel has torch.distributed.pipelining's "
                                                "schedules, not {}",
                                                s.schedule.name));
    std::string out = fmt::format("  pipeline:\n    pp_schedule: {}\n    pp_microbatch_size: {}\n",
                                  name.empty() ? "1F1B" : name, s.training.micro_batch);
    const int stages = s.parallel.pipeline * s.parallel.stages_per_rank;
    if (s.model.layers.count() % stages == 0)
        out += fmt::format("    layers_per_stage: {}\n", s.model.layers.count() / stages);
    return out;
}

std::string backend_section(const Scenario& s) {
    const bool flash = s.training.attention == models::AttentionKernel::Flash;
    std::string out = fmt::format("  backend:\n    attn: {}\n", flash ? "te" : "eager");
    if (s.model.has_experts())
        out += fmt::format("    dispatcher: {}\n", word_of(s.framework.kernels.dispatcher));
    return out;
}

}  // namespace

std::string write_automodel(JobWriter& job) {
    const Scenario& s = job.s;
    const scenarios::Parallel& p = s.parallel;
    const int local = std::max(s.training.global_batch / std::max(p.data, 1), 1);
    std::string out = fmt::format(
        "recipe: TrainFinetuneRecipeForNextTokenPrediction\nstep_scheduler:\n"
        "  global_batch_size: {}\n  local_batch_size: {}\n",
        s.training.global_batch, p.pipeline > 1 ? local : s.training.micro_batch);
    if (const auto clip = s.training.run.clip_norm)
        out += fmt::format("  max_grad_norm: {}\n", *clip);
    out += "model:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n";
    if (const std::string name = hub_name_of(s.model); !name.empty())
        out += fmt::format("  pretrained_model_name_or_path: {}\n", name);
    else
        job.cannot("model", fmt::format("NeMo Automodel names a model by its repository in the "
                                        "hub, and none is known for '{}'",
                                        s.model.name));
    out += backend_section(s);
    out += fmt::format(
        "distributed:\n  strategy: {}\n  dp_size: {}\n  tp_size: {}\n  pp_size: {}\n  cp_size: "
        "{}\n  ep_size: {}\n  sequence_parallel: {}\n  activation_checkpointing: {}\n",
        p.zero_stage > 0 ? "fsdp2" : "ddp", p.data, p.tensor, p.pipeline, p.context, p.expert,
        p.sequence, s.training.recompute == models::Recompute::Full);
    out += pipeline_section(job);
    const bool fused = s.framework.optimizer == scenarios::OptimizerKind::FusedAdam;
    out += fmt::format(
        "optimizer:\n  _target_: {}\n  lr: 1.0e-5\ndataset:\n  _target_: "
        "nemo_automodel.components.datasets.llm.mock.build_unpacked_dataset\n  seq_len: {}\n",
        fused ? "transformer_engine.pytorch.optimizers.fused_adam.FusedAdam" : "torch.optim.AdamW",
        s.training.seq_length);
    if (scenarios::weight_decay_of(s.training.run.optimizer) == scenarios::WeightDecayOf::Matrices)
        job.cannot("training.optimizer.weight_decay_of", "NeMo Automodel decays all parameters");
    return out;
}

}  // namespace debubble::jobs
