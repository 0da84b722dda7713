#include <algorithm>

#include <fmt/format.h>

#include "scenarios/check/framework_checks.h"

/// The rules of torchtitan with PyTorch's pipelining, and of DeepSpeed.
namespace debubble::scenarios {
namespace {

constexpr std::string_view kDecoder =
    "torchtitan/models/common/decoder.py, Decoder.Config.update_from_config";
constexpr std::string_view kDims =
    "torchtitan/distributed/parallel_dims.py, ParallelDims._validate";
constexpr std::string_view kStages =
    "torchtitan/distributed/pipeline_parallel.py, _get_pipeline_metadata";

/// Rules of torch/distributed/pipelining/schedules.py: which microbatches a schedule takes.
void check_pytorch_schedule(const Scenario& scenario, Refusals& refusals) {
    const Parallel& parallel = scenario.parallel;
    const int batches = scenario.training.micro_batches;
    const int ranks = parallel.pipeline;
    const std::string& name = scenario.schedule.name;
    if (ranks == 1 || scenario.schedule.csv) return;
    refusals.add(
        name == "1f1b" && batches < ranks,
        "torch/distributed/pipelining/schedules.py, Schedule1F1B",
        fmt::format("1F1B needs at least as many microbatches as stages, but {} are fewer than {}",
                    batches, ranks));
    const int rounds = std::max(1, batches / ranks);
    for (const auto& [word, place] :
         {std::pair<std::string_view, std::string_view>{
              "interleaved-1f1b",
              "torch/distributed/pipelining/schedules.py, ScheduleInterleaved1F1B"},
          {"interleaved-zb",
           "torch/distributed/pipelining/schedules.py, ScheduleInterleavedZeroBubble"}})
        refusals.add(
            name == word && batches % rounds != 0, place,
            fmt::format("{} microbatches cannot be divided into {} equal rounds", batches, rounds));
    refusals.add(
        (name == "zb-v" || name == "dualpipe-v") && parallel.stages_per_rank != 2,
        "torch/distributed/pipelining/schedules.py, ScheduleZBVZeroBubble and "
        "ScheduleDualPipeV",
        fmt::format("a V schedule needs two stages per rank, not {}", parallel.stages_per_rank));
    refusals.add(
        name == "dualpipe-v" && batches < 2 * ranks,
        "torch/distributed/pipelining/schedules.py, ScheduleDualPipeV",
        fmt::format(
            "DualPipeV needs at least as many microbatches as stages, but {} are fewer than {}",
            batches, 2 * ranks));
    const auto& known = scenario.framework.schedules;
    refusals.add(known && std::ranges::find(*known, name) == known->end(),
                 "torch/distributed/pipelining/schedules.py, get_schedule_class",
                 fmt::format("it does not support the schedule {}", name));
    const bool one_stage = name == "1f1b" || name == "gpipe";
    refusals.add(
        one_stage && parallel.stages_per_rank > 1, kStages,
        fmt::format("{} needs one stage per rank, not {}", name, parallel.stages_per_rank));
}

}  // namespace

void check_torchtitan(const Scenario& scenario, Refusals& refusals) {
    const Parallel& parallel = scenario.parallel;
    const models::Architecture& model = scenario.model;
    check_pytorch_schedule(scenario, refusals);
    refusals.add(model.tied_embedding && parallel.pipeline > 1, kDecoder,
                 "an embedding tied to the head does not support a pipeline");
    refusals.add(scenario.training.seq_length > model.max_positions, kDecoder,
                 fmt::format("a sample of {} tokens exceeds the model's {} positions",
                             scenario.training.seq_length, model.max_positions));
    const int sharded = parallel.shards() * parallel.tensor;
    refusals.add(parallel.expert > 1 && sharded % parallel.expert != 0, kDims,
                 fmt::format("shards {} x tensor {} are not a multiple of expert {}",
                             parallel.shards(), parallel.tensor, parallel.expert));
    refusals.add(scenario.framework.cuda_graphs.full_iteration && parallel.pipeline > 1,
                 "torchtitan/trainer.py, Trainer.Config._validate_cuda_graphs",
                 "CUDA graphs do not support a pipeline");
}

void check_deepspeed(const Scenario& scenario, Refusals& refusals) {
    constexpr std::string_view kEngine =
        "deepspeed/runtime/pipe/engine.py, PipelineEngine.__init__";
    const Parallel& parallel = scenario.parallel;
    const Training& training = scenario.training;
    refusals.add(parallel.pipeline > 1 && parallel.zero_stage >= 2, kEngine,
                 fmt::format("a pipeline supports ZeRO 0 or 1, not {}", parallel.zero_stage));
    const auto& known = scenario.framework.schedules;
    const std::string& name = scenario.schedule.name;
    refusals.add(parallel.pipeline > 1 && !scenario.schedule.csv && known &&
                     std::ranges::find(*known, name) == known->end(),
                 "deepspeed/runtime/pipe/schedule.py, TrainSchedule",
                 fmt::format("it does not support the schedule {}", name));
    refusals.add(scenario.model.has_experts() && parallel.zero_stage == 3,
                 "deepspeed/runtime/engine.py, DeepSpeedEngine._validate_zero3_moe_compatibility",
                 "its own mixture of experts does not support ZeRO-3");
    refusals.add(!training.precision.main_params && parallel.zero_stage == 0 &&
                     training.precision.compute != models::DataType::Fp32,
                 "deepspeed/runtime/config.py, DeepSpeedConfig._do_error_check",
                 "16-bit main parameters need ZeRO");
}

}  // namespace debubble::scenarios
