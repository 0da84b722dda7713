#include "sim/plan/plan_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/predict.h"

/// What the search rules out by a bound must really not be able to win.
namespace debubble::sim {
namespace {

scenarios::Scenario plan(const std::string& schedule, int tensor, int pipeline,
                         const std::string& more) {
    return scenarios::parse_scenario(
        fmt::format("model: gpt2-xl-colossal\ncluster: dgx-a100-80gb\ngpus: 16\n"
                    "parallel: {{tensor: {}, pipeline: {}, data: auto}}\nschedule: {}\n"
                    "training: {{global_batch: 128, micro_batch: 2, seq_length: 1024{}}}\n",
                    tensor, pipeline, schedule, more),
        "plan.yaml");
}

/// Layouts of experts, whose modules run again or travel, under loads that are even or not.
std::vector<scenarios::Scenario> plans_of_experts() {
    std::vector<scenarios::Scenario> all;
    for (const char* schedule : {"interleaved-1f1b", "{name: combined-1f1b, delay_wgrad: true}",
                                 "{name: combined-1f1b, group: 4}"})
        for (const char* layout : {"Ett|(t|)*2t*3mL", "Et|(tt|)*2ttL", "E||(t*3|)*1t*4L"})
            for (const char* more :
                 {"router: balanced", "router: {load: 1.4}",
                  "recompute: {modules: [mla_up_proj, moe_act, layernorm]}",
                  "recompute: {modules: [core_attn, shared_experts], layers: 1}",
                  "offload: {modules: [expert_fc1, moe_act]}", "optimizer: muon"})
                all.push_back(scenarios::parse_scenario(
                    fmt::format(
                        "model: {{base: deepseek-v2-lite, layers: 7}}\ncluster: hgx-h100\ngpus: "
                        "16\n"
                        "parallel: {{pipeline: 2, expert: 8, layout: '{}', zero_stage: 1}}\n"
                        "schedule: {}\n"
                        "training: {{micro_batches: 8, seq_length: 4096, {}}}\n",
                        layout, schedule, more),
                    "experts.yaml"));
    return all;
}

std::vector<scenarios::Scenario> plans() {
    std::vector<scenarios::Scenario> all = plans_of_experts();
    for (const Generator& row : generators())
        for (const int tensor : {1, 4})
            for (const int pipeline : {1, 2, 4})
                for (const char* more :
                     {"", ", recompute: full", ", recompute: {modules: [core_attn, mlp]}",
                      ", recompute: {layers: 2, method: block}",
                      ", recompute: {layers: 2, method: uniform}",
                      ", offload: {modules: [core_attn, mlp_norm]}", ", offload: {layers: 3}",
                      ", optimizer: muon"}) {
                    std::string schedule(row.name);
                    if (row.stages_per_rank.value_or(1) > 1)
                        schedule = fmt::format("{{name: {}, stages_per_rank: {}}}", row.name,
                                               *row.stages_per_rank);
                    try {
                        all.push_back(plan(schedule, tensor, pipeline, more));
                    } catch (const InputError&) {  // the shape is not for this schedule
                    }
                }
    return all;
}

/// How the software behaves, and how replicas share a model.
std::vector<scenarios::Scenario> frameworks() {
    std::vector<scenarios::Scenario> all;
    for (const char* framework :
         {"pytorch-fsdp1", "pytorch-fsdp2", "pytorch-compile", "deepspeed", "primus-2026",
          "{base: megatron-2026, tensor_overlap: true, cuda_graphs: [attn, mlp]}",
          "{base: megatron-2024, cuda_graphs: full_iteration, grad_reduce_dtype: bf16}",
          "{base: deepspeed, stage3_prefetch_bucket_size: 0, stage3_max_reuse_distance: 0}",
          "{base: deepspeed, stage3_param_persistence_threshold: 100000000}",
          "{base: pytorch-fsdp1, optimizer: per-tensor-adam, gathers_unpadded: true}"})
        for (const char* parallel :
             {"tensor: 1, zero_stage: 3", "tensor: 1, zero_stage: 3, shard: 8, reshard: false",
              "tensor: 2, sequence: true, zero_stage: 1, shard: 4", "tensor: 2, zero_stage: 2",
              "context: 2, zero_stage: 3, shard: 4", "pipeline: 2, zero_stage: 1, shard: 2"})
            all.push_back(scenarios::parse_scenario(
                fmt::format("model: llama3-8b\ncluster: hgx-h100\ngpus: 16\nparallel: {{{}}}\n"
                            "training: {{micro_batch: 1, micro_batches: 2, seq_length: 1024}}\n"
                            "framework: {}\n",
                            parallel, framework),
                "framework.yaml"));
    return all;
}

int expect_below(const std::vector<scenarios::Scenario>& scenarios) {
    int compared = 0;
    for (const scenarios::Scenario& scenario : scenarios) {
        SCOPED_TRACE(fmt::format("{} {} pipeline {} tensor {}", scenario.framework.name,
                                 scenario.schedule.name, scenario.parallel.pipeline,
                                 scenario.parallel.tensor));
        Prediction predicted;
        try {
            predicted = predict(scenario).prediction;
        } catch (const InputError&) {
            continue;
        }
        const PlanBound bound = bound_of(scenario);
        EXPECT_LE(bound.step_time_s, predicted.step_time_s * (1 + 1e-9));
        Bytes worst;
        for (const RankPrediction& rank : predicted.ranks)
            worst = std::max(worst, rank.peak_memory);
        EXPECT_LE(bound.memory, worst);
        scenarios::Scenario exactly_full = scenario;
        exactly_full.cluster.gpu.memory = predicted.headroom;
        for (const RankPrediction& rank : predicted.ranks)
            exactly_full.cluster.gpu.memory =
                std::max(exactly_full.cluster.gpu.memory, predicted.headroom + rank.needs());
        EXPECT_TRUE(bound_of(exactly_full).fits());
        exactly_full.cluster.gpu.memory = bound.memory + predicted.headroom - Bytes{1};
        EXPECT_FALSE(bound_of(exactly_full).fits());
        ++compared;
    }
    return compared;
}

TEST(PlanBound, IsNeverAboveThePrediction) {
    EXPECT_GE(expect_below(plans()), 40);
}

TEST(PlanBound, IsNeverAboveThePredictionWhateverTheFramework) {
    EXPECT_EQ(expect_below(frameworks()), 60);
}

TEST(PlanBound, IsNearForAnOrderThatNothingDelays) {
    const scenarios::Scenario scenario = plan("1f1b", 1, 4, "");
    const double predicted = predict(scenario).prediction.step_time_s;
    EXPECT_GT(bound_of(scenario).step_time_s, 0.85 * predicted);
}

}  // namespace
}  // namespace debubble::sim
