#include "sim/predict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/parallel.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/packing.h"
#include "scenarios/plan/plan.h"
#include "sim/allocators_later.h"
#include "sim/choose.h"
#include "sim/cost/physical_models.h"
#include "sim/engine/simulate.h"
#include "sim/explain/bill.h"
#include "sim/explain/communication.h"
#include "sim/explain/explain.h"
#include "sim/explain/plan_run.h"
#include "sim/plan/drawn_loads.h"
#include "sim/plan/ordered_plan.h"
#include "sim/plan/plan_picture.h"
#include "sim/plan/priced_plan.h"
#include "sim/uneven/uneven_steps.h"

namespace debubble::sim {
namespace {

using scenarios::Plan;
using scenarios::Scenario;

/// The scenario whose tokens see as many others as those of documents of this mean length do.
Scenario of_documents(Scenario scenario, double document) {
    scenario.training.seq_length = std::max<std::int64_t>(1, std::llround(document));
    return scenario;
}

/// `attended`: pairs of tokens that see each other, relative to sequences of one document each.
void fill_speed(Prediction& out, const Scenario& played, double attended) {
    const PackedFigures* packed = out.uneven && out.uneven->packed ? &*out.uneven->packed : nullptr;
    const auto batch = static_cast<double>(played.training.global_batch);
    const auto sequence = static_cast<double>(played.training.seq_length);
    const double tokens = packed ? packed->tokens : batch * sequence;
    const Scenario scenario = of_documents(played, packed ? packed->document : attended * sequence);
    const double whole = batch * static_cast<double>(scenario.training.seq_length);
    const double per_gpu = tokens / whole * scenarios::model_flops_per_step(scenario) /
                           out.mean_step_s() / scenario.parallel.gpus();
    out.tokens_per_s = tokens / out.mean_step_s();
    out.samples_per_s = batch / out.mean_step_s();
    out.tflops_per_gpu = per_gpu / 1e12;
    const std::optional<double> peak = scenarios::peak_flops_per_s(scenario);
    if (!peak) return;
    out.mfu = per_gpu / *peak;
    out.mfu_causal = *out.mfu * scenarios::attended_share(scenario);
    out.hfu = *out.mfu * (1 + scenarios::recomputed_share(scenario));
}

void fill_ranks(Prediction& out, const Plan& plan, const Statistics& statistics,
                const std::vector<MemoryPeak>& peaks) {
    for (const RankStatistics& rank : statistics.ranks) {
        const MemoryPeak& peak = peaks[rank.rank.index];
        RankPrediction row;
        row.rank = rank.rank;
        row.stages = plan.schedule.placement.stages[rank.rank];
        row.busy_s = seconds(rank.busy);
        row.exposed_comm_s = seconds(rank.exposed);
        row.optimizer_s = seconds(rank.optimizer);
        const Duration used = rank.busy + rank.exposed + rank.optimizer;
        row.idle_s = seconds(from_seconds(out.step_time_s) - used);
        row.memory = peak.held;
        row.peak_memory = total(row.memory);
        row.peak_op = peak.op.empty() ? peak.action : fmt::format("{} {}", peak.action, peak.op);
        out.ranks.push_back(std::move(row));
    }
}

/// Two steps after a cold start may end closer to each other than a rank can work, if that rank was
/// ahead of the others in the first one.
void settle(Duration& step_time, Statistics& statistics) {
    for (const RankStatistics& rank : statistics.ranks)
        step_time = std::max(step_time, work_of(rank));
    statistics = in_steady_state(std::move(statistics), step_time);
}

/// Where one load is drawn again and again, all steps hold the same.
DrawnMemoryFigures of_one_load(const Scenario& scenario, const std::vector<MemoryPeak>& peaks) {
    DrawnMemoryFigures figures;
    figures.draws = scenario.imbalance.draws;
    figures.quantile = scenario.imbalance.fits_quantile;
    for (const MemoryPeak& peak : peaks) figures.most = std::max(figures.most, total(peak.held));
    figures.p50 = figures.at_quantile = figures.most;
    return figures;
}

bool is_balanced(const Scenario& scenario) {
    return scenario.parallel.partition == scenarios::Partition::Balanced;
}

std::string hash_of(const Plan& plan) {
    return plan.lowered ? plan.lowered->hash() : program_hash(plan.program);
}

/// The figures by which plans are chosen: of even loads, as two plans are compared in a sweep.
PredictOptions figures_to_choose_by(const std::stop_token& stop) {
    PredictOptions figures;
    figures.keep_trace = false;
    figures.draw_loads = false;
    figures.explain = false;
    figures.plan_run = false;
    figures.only_where_it_decides = true;
    figures.stop = stop;
    return figures;
}

std::pair<Scenario, ChosenRecompute> chosen_by_playing(const Scenario& scenario,
                                                       const PredictOptions& options) {
    const PredictOptions figures = figures_to_choose_by(options.stop);
    const auto play = [&](const Scenario& one) {
        const Prediction p = predict(one, figures).prediction;
        return PlayedPlan{p.fits, p.step_time_s, p.memory_left};
    };
    return choose_recompute(scenario, play, options.choosing, options.stop);
}

void say_what_was_chosen(Prediction& out, const ChosenRecompute& how) {
    out.recompute = how;
    if (how.fitting == 0)
        out.reason = fmt::format(
            "training.recompute: auto finds nothing that fits; of {} choices, {} needs the least: "
            "{}",
            how.choices, how.words, out.reason);
}

PlayedCut cut_by_playing(const Scenario& scenario, const std::stop_token& stop) {
    const PredictOptions figures = figures_to_choose_by(stop);
    return choose_cut(scenario,
                      [&](const Scenario& one) { return predict(one, figures).prediction; });
}

/// True if what was played to choose is what was asked for.
bool asks_for_figures(const Scenario& scenario, const PredictOptions& options) {
    return !options.keep_trace && !options.explain && !options.bill && options.hash_program &&
           options.play_allocator && options.only_where_it_decides &&
           !(options.draw_loads && scenario.imbalance.any());
}

/// The passes of the same plan without recompute; null where there is none, or where loads are
/// drawn, whose costs are made of the passes with it.
std::unique_ptr<CostModel> costs_without_recompute(const Scenario& scenario, const Plan& plan) {
    if (scenario.training.recompute == models::Recompute::None) return nullptr;
    Scenario without = scenario;
    without.training.recompute = models::Recompute::None;
    without.training.recompute_extent = {};
    return make_cost_model(without, plan.stages, plan.schedule);
}

void add_bill(PredictionWithTrace& result, const Scenario& scenario, const PricedPlan& priced,
              const LoadsOfStep& loads, SimulateOptions how, bool barrier) {
    how.follow_memory = false;
    how.sample_memory = false;
    how.keep_program = false;
    const Program& program = loads.program();
    const auto play = [&](const CostModel& costs) {
        const Trace trace = simulate(program, costs, how).trace;
        PlayedStep played{trace.header.step_time.value_or(Duration{}), statistics(trace, false)};
        if (!barrier)
            settle(played.step, played.statistics);
        else if (played.step > played.statistics.step)
            played.statistics = with_time_between(std::move(played.statistics), played.step);
        else
            played.step = played.statistics.step;
        return played;
    };
    std::unique_ptr<CostModel> without;
    if (loads.even() == nullptr) without = costs_without_recompute(scenario, priced.plan);
    result.bill = bill_of({result.prediction, result.statistics, program, loads.costs(), play,
                           without.get(), loads.even()});
}

PredictionWithTrace predict_balanced(const Scenario& scenario, const PredictOptions& options) {
    PlayedCut chosen = cut_by_playing(scenario, options.stop);
    PredictionWithTrace result;
    if (asks_for_figures(scenario, options)) {
        result.prediction = std::move(chosen.prediction);
        if (options.plan_run) plan_run(chosen.scenario, result.prediction);
        result.memory_limit = scenario.cluster.gpu.memory;
        result.played = std::move(chosen.scenario);
    } else {
        result = predict(chosen.scenario, options);
    }
    result.prediction.cut = std::move(chosen.cut);
    return result;
}

/// Predicts a plan whose choices are made. `step` is of the scenario; its other parts are filled
/// in.
PredictionWithTrace predict_plan(StepToAllocate& step, const PredictOptions& options) {
    const Scenario& scenario = step.scenario;
    step.priced = std::make_unique<const PricedPlan>(
        priced(options.plan ? *options.plan : ordered_plan(scenario, options.stop), scenario));
    const PricedPlan& of_plan = *step.priced;
    const Plan& plan = of_plan.plan;

    const bool barrier = has_barrier(plan);
    SimulateOptions how = played_step(scenario, plan);
    how.sample_memory = options.keep_trace;
    how.keep_program = options.keep_trace;
    how.hash_program = false;  // the plan knows it
    how.stop = options.stop;
    const bool draws = options.draw_loads && scenario.imbalance.any();
    const LoadsOfStep& loads =
        draws ? step.loads.emplace(scenario, of_plan, how) : step.loads.emplace(scenario, of_plan);
    const CostModel& costs = loads.costs();
    const Program& program = loads.program();
    step.loaded = draw_memory(scenario, of_plan, loads.mean(), how);
    const LoadedMemory* loaded = step.loaded.get();
    const bool shows = loaded && options.keep_trace;
    const MemoryModel& memory = shows ? loaded->drawn.memory() : *of_plan.memory;
    how.follow_memory = shows || !loaded;
    if (options.hash_program)
        how.header.program_hash = loads.packs() ? program_hash(program) : hash_of(plan);
    Simulation simulation = simulate(program, costs, memory, how);

    give_up_if(options.stop);
    PredictionWithTrace result;
    result.played = scenario;
    result.memory_limit = scenario.cluster.gpu.memory;
    result.statistics = statistics(simulation.trace, options.keep_trace);
    if (const CostModel* of_even = loads.even()) {
        const Trace even = simulate(program, *of_even, how).trace;
        blame_uneven_loads(result.statistics, simulation.trace, statistics(even, false), even);
    }
    Duration step_time = simulation.trace.header.step_time.value_or(Duration{});
    if (!barrier) {
        settle(step_time, result.statistics);
        simulation.trace.header.step_time = step_time;
    } else if (step_time > result.statistics.step) {
        result.statistics = with_time_between(std::move(result.statistics), step_time);
    }
    Prediction& out = result.prediction;
    out.uneven = loads.steps();
    out.scenario = scenario.name;
    out.step_time_s = seconds(step_time);
    fill_speed(out, scenario, loads.attended());
    out.bubble = result.statistics.bubble;
    out.span_bubble = result.statistics.span_bubble;
    out.makespan_s = seconds(result.statistics.makespan);
    out.parameters = models::parameter_count(scenario.model);
    const scenarios::Parallel& parallel = scenario.parallel;
    out.replicas = parallel.tensor * parallel.context * parallel.data;
    const std::vector<MemoryPeak> peaks = loaded ? loaded->drawn.peaks() : simulation.peaks;
    if (scenario.imbalance.draws_routers())
        out.drawn_memory = loaded ? loaded->drawn.figures() : of_one_load(scenario, peaks);
    fill_ranks(out, plan, result.statistics, peaks);
    fill_communication(out.ranks, simulation.trace, result.statistics, program.placement, costs);
    out.headroom = scenarios::headroom_of(scenario);
    add_ranges(out, scenario);
    step.times = std::move(simulation.times);
    if (options.play_allocator)
        play_allocators(out, step, options.only_where_it_decides, options.stop);
    out.schedule_hash = simulation.trace.header.program_hash;
    if (options.plan_run) plan_run(scenario, out);
    if (options.explain) explain(out, scenario, plan.program, *of_plan.costs);

    if (options.bill) add_bill(result, scenario, of_plan, loads, how, barrier);
    if (options.keep_spans) result.trace.spans = std::move(simulation.trace.spans);
    if (!options.keep_trace) return result;
    result.operators = operators_of(*of_plan.prices, plan.schedule);
    result.links = links_of(*of_plan.prices, costs, simulation.trace);
    result.trace = std::move(simulation.trace);
    return result;
}

}  // namespace

Plan priced_plan(const Scenario& scenario) {
    if (is_balanced(scenario)) return priced_plan(cut_by_playing(scenario, {}).scenario);
    return ordered_plan(scenario);
}

Scenario with_choices_made(Scenario scenario, const ChoicesDone& choosing) {
    PredictOptions how;
    how.choosing = choosing;
    if (scenario.training.chooses_recompute) scenario = chosen_by_playing(scenario, how).first;
    return is_balanced(scenario) ? cut_by_playing(scenario, {}).scenario : scenario;
}

PredictionWithTrace predict(const Scenario& scenario, const PredictOptions& options) {
    give_up_if(options.stop);
    if (scenario.training.chooses_recompute) {
        const auto [chosen, how] = chosen_by_playing(scenario, options);
        PredictionWithTrace result = predict(chosen, options);
        say_what_was_chosen(result.prediction, how);
        return result;
    }
    if (is_balanced(scenario))
        return options.plan ? predict(with_cut(scenario, options.plan->stages), options)
                            : predict_balanced(scenario, options);
    const auto step = std::make_shared<StepToAllocate>(scenario);
    PredictionWithTrace result = predict_plan(*step, options);
    if (options.allocators_later) result.to_allocate = step;
    return result;
}

}  // namespace debubble::sim
