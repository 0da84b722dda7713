#include "exec/program/run/run_report.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "exec/core/stage/operators/executor_scenario.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/plan/derived.h"
#include "sim/report/plan_json.h"
#include "text/wording.h"
#include "trace/core_share.h"
#include "trace/statistics.h"

namespace debubble::exec {

namespace {

using Json = nlohmann::ordered_json;

struct Speed {
    double step_s = 0;
    double tokens_per_s = 0;
    double samples_per_s = 0;
    double tflops_per_rank = 0;
    std::optional<double> mfu = {};
    std::optional<double> mfu_causal = {};
    std::optional<double> hfu = {};
};

Speed speed_of(const RunJob& job, const RunOutcome& outcome) {
    const scenarios::Training& how = job.scenario.training;
    const double s = outcome.step_time_s;
    const auto samples = static_cast<double>(how.global_batch);
    Speed speed{s, samples * static_cast<double>(how.seq_length) / s, samples / s};
    speed.tflops_per_rank =
        scenarios::model_flops_per_step(job.scenario) / s / job.grid.size() / 1e12;
    if (const auto at_peak = job.step_s_at_peak()) {
        speed.mfu = *at_peak / s;
        speed.mfu_causal = *speed.mfu * scenarios::attended_share(job.scenario);
        speed.hfu = *speed.mfu * (1 + scenarios::recomputed_share(executor_scenario(job.scenario)));
    }
    return speed;
}

/// The account of the step with the time until the next one.
Statistics account_of(const RunOutcome& outcome) {
    Statistics of_trace = statistics(outcome.trace);
    const Duration step = from_seconds(outcome.step_time_s);
    return step > of_trace.step ? with_time_between(std::move(of_trace), step) : of_trace;
}

Json or_null(const std::optional<double>& number) {
    return number ? Json(*number) : Json();
}

Json provenance(const RunJob& job) {
    Json list = Json::array({{{"what", "step"}, {"origin", "measured"}, {"source", "this run"}}});
    if (!job.peak.flops_per_s) return list;
    const auto& origins = job.scenario.cluster.origins;
    const bool fp32 = job.scenario.training.precision.compute == models::DataType::Fp32;
    const auto origin = origins.find(fp32 ? "gpu.fp32_flops" : "gpu.fp16_flops");
    const auto word =
        origin == origins.end() ? scenarios::Provenance::Assumed : origin->second.provenance;
    list.push_back({{"what", "peak rate"}, {"origin", name_of(word)}, {"source", job.peak.source}});
    return list;
}

Json json_of(const MemoryByClass& held) {
    Json out = Json::object();
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        out[std::string(name_of(static_cast<MemoryClass>(c)))] = held[c].count;
    return out;
}

/// Of the rank's replica that was worst off; unset where a device computes.
std::optional<double> least_core_share(const Trace& trace, Rank rank) {
    std::optional<double> least;
    for (const CoreShare& one : core_shares(trace))
        if (one.rank == rank) least = std::min(least.value_or(1), one.share);
    return least;
}

Json json_of(const RankStatistics& rank, const RunJob& job, const RunOutcome& outcome) {
    Json stages = Json::array();
    for (const Stage stage : job.plan.program.placement.stages_of(rank.rank))
        stages.push_back(stage.index);
    const MemoryPeak& peak = outcome.trace.peaks[rank.rank.index];
    const std::optional<double> cores = least_core_share(outcome.trace, rank.rank);
    const double used = seconds(rank.busy + rank.exposed + rank.optimizer);
    return {{"rank", rank.rank.index},
            {"stage_ids", std::move(stages)},
            {"busy_s", seconds(rank.busy)},
            {"idle_s", std::max(0.0, outcome.step_time_s - used)},
            {"exposed_comm_s", seconds(rank.exposed)},
            {"optimizer_s", seconds(rank.optimizer)},
            {"core_share", or_null(cores)},
            {"peak_memory_bytes", total(peak.held).count},
            {"reserved_memory_bytes", nullptr},
            {"peak_op", peak.op.empty() ? peak.action : peak.action + ' ' + peak.op},
            {"memory", json_of(peak.held)}};
}

Json idle_of(const Statistics& statistics) {
    const auto sums = idle_by_cause(statistics);
    Json out = Json::object();
    for (std::size_t c = 0; c < kBubbleCauses; ++c)
        if (sums[c] > Duration{} || !is_rare(static_cast<BubbleCause>(c)))
            out[std::string(name_of(static_cast<BubbleCause>(c)))] = seconds(sums[c]);
    return out;
}

/// null for a network without experts.
Json json_of(const std::vector<LayerLoad>& loads) {
    if (loads.empty()) return nullptr;
    Json list = Json::array();
    for (const LayerLoad& layer : loads)
        list.push_back(
            {{"layer", layer.layer}, {"load", layer.load}, {"largest_load", layer.largest}});
    return list;
}

/// A line about the measured loads; empty without experts.
std::string loads_text(const std::vector<LayerLoad>& loads) {
    if (loads.empty()) return {};
    const LayerLoad& most = *std::ranges::max_element(loads, {}, &LayerLoad::load);
    return fmt::format(
        "experts: the most loaded one of a layer had {:.2f} times the mean number of tokens, in "
        "layer {} (at most {:.2f} in a step)\n",
        most.load, most.layer, most.largest);
}

Json json_of(const std::optional<RunExpertLoad>& load, const RunJob& job) {
    if (!load) return {};
    return {{"planned", job.scenario.training.expert_load},
            {"fullest_rank", load->fullest_rank},
            {"most", load->most},
            {"at_peak", load->at_peak}};
}

/// A line about the experts, where ranks share them.
std::string load_in_words(const std::optional<RunExpertLoad>& load, const RunJob& job) {
    if (!load) return "";
    return fmt::format(
        "experts: the most loaded rank received {:.2f} times the mean number of tokens (at most "
        "{:.2f} in a pass; "
        "planned {:.2f})\n",
        load->fullest_rank, load->most, job.scenario.training.expert_load);
}

Json json_of(const Evaluation& evaluation) {
    Json json{{"step", evaluation.step},
              {"loss", evaluation.loss},
              {"accuracy", nullptr},
              {"targets", evaluation.targets}};
    if (evaluation.accuracy) json["accuracy"] = *evaluation.accuracy;
    return json;
}

Json json_of(const std::vector<Evaluation>& evaluations) {
    Json list = Json::array();
    for (const Evaluation& evaluation : evaluations) list.push_back(json_of(evaluation));
    return list;
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// The figures that `reliability` needs from a machine: the pause of a save, the start and the
/// load.
Json json_of(const RunOverheads& overheads) {
    const auto bytes = [](const std::optional<Bytes>& size) {
        return size ? Json(size->count) : Json();
    };
    return {{"start_s", overheads.start},
            {"load_s", overheads.load},
            {"loaded_bytes", bytes(overheads.loaded)},
            {"saves", overheads.saves.size()},
            {"saved_bytes", bytes(overheads.saved)},
            {"save_s", overheads.saves.empty() ? Json() : Json(median(overheads.saves))}};
}

}  // namespace

Json run_report(const RunJob& job, const RunOutcome& outcome) {
    const Statistics measured = account_of(outcome);
    const std::string busy = busy_machine(outcome.trace);
    const Speed speed = speed_of(job, outcome);
    Json ranks = Json::array();
    for (const RankStatistics& rank : measured.ranks) ranks.push_back(json_of(rank, job, outcome));
    Json losses = Json::array();
    for (const StepMetrics& step : outcome.steps) losses.push_back(step.loss);
    const std::int64_t memory =
        static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    Json report = sim::schema_json("run");
    report["plan"] = sim::plan_json(job.scenario);
    report.update(
        {{"scenario", job.scenario.name},
         {"step_time_s", speed.step_s},
         {"tokens_per_s", speed.tokens_per_s},
         {"samples_per_s", speed.samples_per_s},
         {"mfu", or_null(speed.mfu)},
         {"mfu_reason", speed.mfu ? Json() : Json(job.peak.source)},
         {"mfu_causal", or_null(speed.mfu_causal)},
         {"hfu", or_null(speed.hfu)},
         {"tflops_per_gpu", speed.tflops_per_rank},
         {"bubble", measured.bubble},
         {"span_bubble", measured.span_bubble},
         {"makespan_s", seconds(measured.makespan)},
         {"idle_by_cause_s", idle_of(measured)},
         {"parameters", models::parameter_count(job.scenario.model)},
         {"replicas", job.grid.replicas()},
         {"fits", true},
         {"reason", nullptr},
         {"tight", nullptr},  // a prediction has it, as it has the memory that is left
         {"memory_limit_bytes", memory},
         {"headroom_bytes", nullptr},
         {"memory_left_bytes", nullptr},
         {"memory_left_of_requested_bytes", nullptr},
         {"communication", nullptr},
         {"ranks", std::move(ranks)},
         {"schedule_hash", job.program_hash},
         {"provenance", provenance(job)},
         {"notes", job.scenario.notes},
         {"busy_machine", busy.empty() ? Json() : Json(busy)},
         {"executed_in_order", outcome.disorder.empty()},
         {"proven_steps", outcome.proven_steps},
         {"first_step", job.start.first_step() + 1},
         {"stopped", outcome.stopped},
         {"overheads", json_of(outcome.overheads)},
         {"rank_load", json_of(outcome.expert_load, job)},
         {"losses", std::move(losses)},
         {"layer_loads", json_of(outcome.loads)},
         {"evaluation", outcome.evaluations.empty() ? Json() : json_of(outcome.evaluations.back())},
         {"evaluations", json_of(outcome.evaluations)}});
    return report;
}

std::string run_summary(const RunJob& job, const RunOutcome& outcome) {
    const Statistics measured = account_of(outcome);
    const std::string busy = busy_machine(outcome.trace);
    const Speed speed = speed_of(job, outcome);
    const std::string mfu = speed.mfu ? fmt::format(", MFU {:.1f} %", 100 * *speed.mfu)
                                      : fmt::format("\nno MFU: {}", job.peak.source);
    Bytes most;
    for (const MemoryPeak& peak : outcome.trace.peaks) most = std::max(most, total(peak.held));
    return fmt::format(
        "step {:.4g} s (median), {:.0f} tokens/s, {:.3g} samples/s, {} per rank{}\n"
        "bubble {:.1f} %, makespan {:.4g} s, peak memory {:.3g} GiB on the fullest rank\n"
        "{}the executed order equals program {} in {} on every rank\n",
        speed.step_s, speed.tokens_per_s, speed.samples_per_s,
        text::flop_rate_text(speed.tflops_per_rank * 1e12), mfu, 100 * measured.bubble,
        seconds(measured.makespan), gib(most),
        loads_text(outcome.loads) + load_in_words(outcome.expert_load, job) +
            (busy.empty() ? "" : fmt::format("busy machine: {}\n", busy)),
        job.program_hash.substr(0, 12),
        outcome.proven_steps == 1 ? "the one step"
                                  : fmt::format("all {} steps", outcome.proven_steps));
}

}  // namespace debubble::exec
