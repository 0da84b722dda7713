#include <gtest/gtest.h>

#include "exec/core/stage/operators/executor_scenario.h"
#include "models/memory/static_memory.h"
#include "scenarios/plan/derived.h"
#include "tests/exec/support/training_job.h"

/// A rank holds the memory that the model's plan says.
namespace debubble::exec {
namespace {

constexpr MemoryClass kStatic[] = {MemoryClass::Parameters, MemoryClass::Gradients,
                                   MemoryClass::Optimizer};

class HeldBytes : public testing::TestWithParam<Layout> {};

TEST_P(HeldBytes, AreThePlans) {
    const scenarios::Scenario scenario = scenario_of(GetParam());
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const RankGrid grid{scenario.parallel.tensor, scenario.parallel.context, scenario.parallel.data,
                        scenario.parallel.pipeline};
    models::StaticPolicy policy;
    policy.main_parameters = scenario.training.precision.main_params;
    policy.moments = scenario.training.precision.moments;
    policy.moment_count = moments_of(scenario.training.run.optimizer);
    policy.steps_matrices = scenarios::steps_matrices(scenario.training.run.optimizer);
    if (policy.steps_matrices) policy.moment_count = 2;
    policy.zero_stage = scenario.parallel.zero_stage;
    policy.shards = scenario.parallel.data;
    const JobResult result = run_job(GetParam(), 0);
    for (int rank = 0; rank < grid.size(); ++rank) {
        MemoryByClass planned{};
        // Shares of units are whole groups of elements, each of 12 bytes at most: fp32 main
        // parameters and two moments.
        std::int64_t padding = 0;
        for (const Stage stage : plan.program.placement.stages_of({grid.place_of(rank).pipeline})) {
            const models::StageGraph graph = models::build_stage(
                scenario.model, scenarios::execution_of(executor_scenario(scenario)),
                plan.stages[stage.index]);
            const models::StaticMemory memory = models::static_memory(graph, policy);
            for (const MemoryClass held_as : kStatic)
                planned[static_cast<std::size_t>(held_as)] +=
                    memory.held[static_cast<std::size_t>(held_as)];
            for (const ParameterUnit& unit : units_of(graph, {.matrices = policy.steps_matrices}))
                if (policy.zero_stage > 0)
                    padding += 12 * (unit.share(policy.shards) * policy.shards - unit.elements);
        }
        for (const MemoryClass held_as : kStatic) {
            const auto index = static_cast<std::size_t>(held_as);
            EXPECT_GE(result.held[rank][index].count, planned[index].count) << name_of(held_as);
            EXPECT_LE(result.held[rank][index].count, planned[index].count + padding)
                << name_of(held_as);
        }
    }
}

std::vector<Layout> measured_layouts() {
    std::vector<Layout> all;
    for (const char* precision : {"fp32", "bf16", "pure-bf16", "fp16"})
        for (const char* zero : {"0", "1", "2", "3"})
            all.push_back({std::string("{pipeline: 2, data: 2, zero_stage: ") + zero + "}", "gpt2",
                           "1f1b", precision});
    all.push_back({"{tensor: 2, data: 4, zero_stage: 2}", "llama", "1f1b", "bf16"});
    all.push_back({"{pipeline: 2, data: 1}", "gpt2", "zb-v", "bf16"});
    all.back().training = "optimizer: {name: sgd, momentum: 0.9}";
    all.push_back({"{pipeline: 2, data: 1}", "gpt2", "chimera", "bf16"});
    all.back().training = "optimizer: sgd";
    for (const char* parallel : {"{pipeline: 2, data: 1}", "{data: 2, zero_stage: 1}",
                                 "{tensor: 2, data: 2, zero_stage: 2}", "{data: 2, zero_stage: 3}"})
        for (const char* precision : {"fp32", "bf16"}) {
            all.push_back({parallel, "gpt2", "1f1b", precision});
            all.back().training = "optimizer: muon";
        }
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, HeldBytes, testing::ValuesIn(measured_layouts()));

}  // namespace
}  // namespace debubble::exec
