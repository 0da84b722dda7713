#include "sim/anchor/measured_plan.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "sim/plan/ordered_plan.h"
#include "trace/io/trace_formats.h"
#include "trace/profile/runs/profiled_run.h"
#include "trace/statistics.h"
#include "trace/steps.h"

namespace debubble::sim {
namespace {

/// Passes without names are named by the plan.
profile::ProfiledRun run_of(const std::vector<std::string>& files,
                            const scenarios::Scenario& plan) {
    scenarios::Plan ordered = ordered_plan(plan);
    profile::RunOptions options;
    options.program = std::move(ordered.program);
    options.layers.emplace();
    for (const models::StageContent& stage : ordered.stages)
        options.layers->push_back(stage.layers);
    return profile::read_run(files, options);
}

void take_step(const Trace& run, const std::string& file, MeasuredPlan& plan) {
    const Trace step = median_step(run);
    const Statistics of_step = statistics(step, false);
    if (of_step.ranks.empty() || of_step.step <= Duration{})
        throw InputError(fmt::format("{}: no passes of the plan were found in it", file));
    const Duration length = std::max(step.header.step_time.value_or(of_step.step), of_step.step);
    plan.step_s = seconds(length);
    StepParts& parts = plan.parts.emplace();
    for (const RankStatistics& rank : of_step.ranks) {
        parts.ranks.push_back(rank.rank);
        parts.compute_s += seconds(rank.busy + rank.optimizer);
        parts.exposed_s += seconds(rank.exposed);
    }
    const auto ranks = static_cast<double>(of_step.ranks.size());
    parts.compute_s /= ranks;
    parts.exposed_s /= ranks;
    parts.idle_s = std::max(0.0, *plan.step_s - parts.compute_s - parts.exposed_s);
}

}  // namespace

bool is_profile(const std::string& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) return true;
    return std::filesystem::is_regular_file(file, error) &&
           profile::kind_of_trace(file) != profile::TraceKind::Other;
}

MeasuredPlan read_profile(const std::vector<std::string>& files, const scenarios::Scenario& plan) {
    MeasuredPlan measured;
    const std::vector<std::string> all = profile::trace_files(files);
    if (all.size() == 1 && profile::kind_of_trace(all.front()) == profile::TraceKind::Own) {
        const Trace run = read_trace(all.front());
        take_step(run, all.front(), measured);
        for (const MemoryPeak& peak : run.peaks)
            measured.allocated = std::max(measured.allocated.value_or(Bytes{}), total(peak.held));
        return measured;
    }
    const profile::ProfiledRun run = run_of(all, plan);
    take_step(run.trace, all.front(), measured);
    for (const profile::RankFacts& rank : run.ranks)
        if (rank.peak_allocated)
            measured.allocated =
                std::max(measured.allocated.value_or(Bytes{}), Bytes{*rank.peak_allocated});
    return measured;
}

}  // namespace debubble::sim
