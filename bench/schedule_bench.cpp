#include <benchmark/benchmark.h>

#include "schedule/generators/generators.h"
#include "schedule/replay/replay.h"

/// The time to write and to replay a schedule. The goal: zb-auto on 16 ranks and 128 microbatches
/// within 0.1 s.
namespace debubble {
namespace {

/// F, I and W of a rank's share of 14.6B parameters on A100 (arXiv:2401.10241, table 5).
PipelineCosts measured_costs(int stages_per_rank) {
    const double v = 1e3 * stages_per_rank;
    return {{{from_seconds(11.325 / v), from_seconds(11.308 / v), from_seconds(8.109 / v)}},
            from_seconds(0.378e-3),
            std::nullopt};
}

void generate_schedule(benchmark::State& state, const Generator& generator,
                       const PipelineShape& shape) {
    GeneratorOptions options;
    options.costs = measured_costs(shape.stages_per_rank);
    std::size_t actions = 0;
    for (auto _ : state) {
        const Schedule schedule = generator.make(shape, options);
        actions = 0;
        for (const ActionList& rank : schedule.ranks) actions += rank.size();
        benchmark::DoNotOptimize(schedule.ranks.data());
    }
    state.counters["actions"] = static_cast<double>(actions);
}

void replay_schedule(benchmark::State& state, const char* name, const PipelineShape& shape) {
    const Schedule schedule = generate(name, shape);
    const PipelineCosts costs = measured_costs(shape.stages_per_rank);
    for (auto _ : state) benchmark::DoNotOptimize(replay(schedule, costs).makespan);
    state.SetItemsProcessed(state.iterations() * shape.stages() * shape.micro_batches);
}

void register_all() {
    for (const Generator& generator : generators()) {
        for (const auto& [ranks, micro_batches] : {std::pair{8, 64}, {16, 128}}) {
            const PipelineShape shape{ranks, generator.stages_per_rank.value_or(2), micro_batches};
            if (generator.why_not(shape, {})) continue;
            const std::string name = "generate/" + std::string(generator.name) +
                                     "/p=" + std::to_string(ranks) +
                                     "/m=" + std::to_string(micro_batches);
            benchmark::RegisterBenchmark(name.c_str(), generate_schedule, generator, shape)
                ->Unit(benchmark::kMillisecond);
        }
    }
    for (const char* name : {"1f1b", "zb-h1"})
        benchmark::RegisterBenchmark((std::string("replay/") + name + "/p=16/m=128").c_str(),
                                     replay_schedule, name, PipelineShape{16, 1, 128})
            ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace debubble

int main(int argc, char** argv) {
    debubble::register_all();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
