#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/parallel.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "sim/cost/abstract_cost_model.h"
#include "sim/engine/simulate.h"
#include "sim/grid/grid.h"
#include "sim/predict.h"
#include "sim/zoo.h"

/// The cost of a prediction: the figures of docs/benchmarks.md.
namespace debubble::sim {
namespace {

/// GPT-3 175B, tensor 8, on as many DGX A100 as the pipeline needs, 1F1B.
scenarios::Scenario gpt3(int pipeline, int micro_batches) {
    const std::string text = fmt::format(
        "model: gpt3-175b\n"
        "cluster: dgx-a100-80gb\n"
        "gpus: {}\n"
        "parallel: {{tensor: 8, pipeline: {}, sequence: true}}\n"
        "schedule: 1f1b\n"
        "training: {{global_batch: {}, micro_batch: 1, seq_length: 2048, recompute: selective}}\n",
        8 * pipeline, pipeline, micro_batches);
    return scenarios::parse_scenario(text, "bench.yaml");
}

void predict_gpt3(benchmark::State& state) {
    const auto scenario = gpt3(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
    PredictOptions options;
    options.play_allocator = false;
    for (auto _ : state) benchmark::DoNotOptimize(predict(scenario, options));
    state.SetComplexityN(state.range(0) * state.range(1));
}
BENCHMARK(predict_gpt3)
    ->ArgNames({"ranks", "micro_batches"})
    ->Args({8, 64})
    ->Unit(benchmark::kMillisecond);

/// The same prediction, and the memory that the allocator of every rank would reserve.
void predict_gpt3_with_reserved_memory(benchmark::State& state) {
    const auto scenario = gpt3(8, 64);
    for (auto _ : state) benchmark::DoNotOptimize(predict(scenario));
}
BENCHMARK(predict_gpt3_with_reserved_memory)->Unit(benchmark::kMillisecond);

// The cost by microbatches, then by ranks: it must grow in a straight line.
BENCHMARK(predict_gpt3)
    ->Name("predict_gpt3/slope_in_micro_batches")
    ->ArgNames({"ranks", "micro_batches"})
    ->ArgsProduct({{8}, {64, 128, 256, 512, 1024, 2048}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);
BENCHMARK(predict_gpt3)
    ->Name("predict_gpt3/slope_in_ranks")
    ->ArgNames({"ranks", "micro_batches"})
    ->ArgsProduct({{4, 8, 16, 32, 96}, {256}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

Program one_f_one_b_program(int ranks, int micro_batches) {
    return lower(generate("1f1b", {ranks, 1, micro_batches, 1}), {});
}

/// The engine alone, with abstract costs, a link delay and ten million events: by a longest path,
/// as no flows meet, and event by event.
void ten_million_events(benchmark::State& state) {
    const Program program = one_f_one_b_program(64, static_cast<int>(state.range(0)));
    PipelineCosts costs = unit_costs();
    costs.link = std::chrono::milliseconds(100);
    const AbstractCostModel model(costs, 1);
    std::size_t events = 0;
    for (auto _ : state) {
        const Simulation simulation = simulate(
            program, model,
            {.follow_memory = false, .record_spans = false, .by_events = state.range(1) != 0});
        events = simulation.events;
    }
    state.counters["events"] = static_cast<double>(events);
    state.counters["per_event"] = benchmark::Counter(
        static_cast<double>(events),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(ten_million_events)
    ->ArgNames({"micro_batches", "by_events"})
    ->Args({40'000, 0})
    ->Args({40'000, 1})
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

/// Bytes that a trace takes for each of its spans, memory samples included.
void trace_bytes_per_span(benchmark::State& state) {
    const auto scenario = gpt3(8, 64);
    PredictionWithTrace result;
    for (auto _ : state) result = predict(scenario);
    const Trace& trace = result.trace;
    const auto spans = static_cast<double>(trace.spans.size());
    const double samples = static_cast<double>(trace.memory.size()) * sizeof(MemorySample);
    state.counters["spans"] = spans;
    state.counters["span_bytes"] = sizeof(Span);
    state.counters["memory_bytes_per_span"] = samples / spans;
}
BENCHMARK(trace_bytes_per_span)->Unit(benchmark::kMillisecond);

void zb_auto(benchmark::State& state) {
    GeneratorOptions options;  // the 14.6B figures of arXiv:2401.10241, ms
    const auto ms = [](double value) { return from_seconds(value * 1e-3); };
    options.costs = {{{ms(11.325), ms(11.308), ms(8.109)}}, ms(0.378), std::nullopt};
    options.memory_limits = {24};
    for (auto _ : state) benchmark::DoNotOptimize(generate("zb-auto", {16, 1, 128, 1}, options));
}
BENCHMARK(zb_auto)->Unit(benchmark::kMillisecond);

/// Plans of GPT-2 XL, as `debubble sweep` plays them, on two threads.
void play_grid(benchmark::State& state, const std::string& scenario) {
    const Grid grid(scenario, {});
    std::size_t possible = 0;
    for (auto _ : state) {
        std::atomic<std::size_t> counted = 0;
        run_parallel(grid.points.size(), 2, nullptr, [&](std::size_t i) {
            if (evaluate(grid, grid.points[i]).possible()) ++counted;
        });
        possible = counted;
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(possible));
    state.counters["impossible"] = static_cast<double>(grid.points.size() - possible);
}

void sweep_gpt2_xl(benchmark::State& state) {
    play_grid(state, DEBUBBLE_SOURCE_DIR "/bench/gpt2-xl-sweep.yaml");
}
BENCHMARK(sweep_gpt2_xl)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Searches the shipped grid, of which it plays a seventh. It runs once, in a process that has
/// played nothing else, since results that are kept from earlier searches would show.
void sweep_gpt2_xl_searched(benchmark::State& state) {
    play_grid(state, "gpt2-xl-sweep");
}
BENCHMARK(sweep_gpt2_xl_searched)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

/// Every schedule that GPT-3 175B could have, as the window shows them: once in a process that has
/// predicted nothing else, and again with the prices that are kept.
void zoo_of_gpt3(benchmark::State& state) {
    const scenarios::ScenarioTemplate plan("gpt3-175b");
    ZooRequest request;
    request.present = "interleaved-1f1b";
    request.stages = {3};
    request.plan_with = [&](const std::string& schedule, int stages) {
        return plan.instantiate(
            {{"schedule", schedule}, {"parallel.stages_per_rank", std::to_string(stages)}});
    };
    for (auto _ : state) benchmark::DoNotOptimize(schedule_zoo(request));
}
BENCHMARK(zoo_of_gpt3)
    ->Name("zoo_of_gpt3/first")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK(zoo_of_gpt3)
    ->Name("zoo_of_gpt3/again")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace debubble::sim
