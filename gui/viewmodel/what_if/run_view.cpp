#include "gui/viewmodel/what_if/run_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "gui/viewmodel/what_if/part_keys.h"
#include "gui/viewmodel/what_if/plan_figures.h"
#include "scenarios/read/edit.h"
#include "sim/report/report.h"
#include "sim/run_plan/run_figures.h"
#include "sim/run_plan/save_interval.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

constexpr double kDay = 86400;
constexpr int kDraggedDraws = 32;

RunOnNodes point_of(const sim::Prediction& prediction, int nodes) {
    const sim::RunPlan& run = *prediction.run;
    const sim::RunFigures& figures = run.figures;
    return {
        nodes,   run.gpus, figures.p5_s / kDay, run.days(), figures.p95_s / kDay, figures.goodput(),
        run.cost};
}

}  // namespace

std::vector<int> nodes_around(int present, int replica) {
    std::vector<int> numbers;
    for (int half_steps = -4; half_steps <= 4; ++half_steps) {
        const double wanted = present * std::exp2(half_steps / 2.0);
        const int nodes = std::max(1, static_cast<int>(std::lround(wanted / replica))) * replica;
        if (numbers.empty() || numbers.back() != nodes) numbers.push_back(nodes);
    }
    return numbers;
}

std::vector<RunOnNodes> runs_over_nodes(const ScenarioText& source, const std::vector<int>& nodes,
                                        const std::stop_token& stop) {
    std::vector<std::optional<RunOnNodes>> found(nodes.size());
    on_other_cores(nodes.size(), stop, [&](std::size_t i) {
        ScenarioText other = with_part_key(source, {"nodes", fmt::format("{}", nodes[i])});
        for (const char* key : {"gpus", "parallel.data"})
            if (scenarios::written_at(other.text, other.file, key))
                other = with_part_key(std::move(other),
                                      {key, key == std::string("gpus") ? "null" : "auto"});
        const auto figures = figures_of_plan(other, stop);
        if (figures && figures->fits && figures->run) found[i] = point_of(*figures, nodes[i]);
    });
    std::vector<RunOnNodes> points;
    for (const auto& point : found)
        if (point) points.push_back(*point);
    std::ranges::sort(points, {}, &RunOnNodes::nodes);
    return points;
}

std::vector<WaterfallPart> waterfall_of(const sim::RunPlan& run) {
    const sim::RunFigures& figures = run.figures;
    std::vector<WaterfallPart> parts;
    double from = 0;
    for (std::size_t c = 0; c < sim::kRunTimes; ++c) {
        const double share = figures.seconds[c] / figures.mean_s;
        if (share <= 0) continue;
        const auto spent = static_cast<sim::RunTime>(c);
        parts.push_back({spent, from, from + share,
                         fmt::format("{}: {}, {}", words_of(spent),
                                     sim::span_words(figures.seconds[c]), text::percent(share))});
        from += share;
    }
    return parts;
}

RunStrip::RunStrip(const sim::RunPlan& run, std::uint64_t seed, int number) {
    sim::DrawnRun drawn = sim::draw_run(run.figures.job, seed, number, true);
    spells_ = std::move(drawn.spells);
    wall_ = drawn.wall;
}

std::vector<sim::RunSeconds> RunStrip::columns(double from, double to, std::size_t count) const {
    std::vector<sim::RunSeconds> columns(count);
    const double width = (to - from) / static_cast<double>(count);
    auto spell = std::ranges::upper_bound(spells_, from, {}, &sim::RunSpell::end);
    for (; spell != spells_.end() && spell->begin < to; ++spell) {
        const double begin = std::max(spell->begin, from);
        const double end = std::min(spell->end, to);
        auto column = static_cast<std::size_t>((begin - from) / width);
        for (; column < count; ++column) {
            const double left = from + static_cast<double>(column) * width;
            if (left >= end) break;
            const double part = std::min(end, left + width) - std::max(begin, left);
            of(columns[column], spell->spent) += std::max(0.0, part);
        }
    }
    return columns;
}

const sim::RunSpell* RunStrip::at(double instant) const {
    const auto spell = std::ranges::upper_bound(spells_, instant, {}, &sim::RunSpell::end);
    return spell == spells_.end() || spell->begin > instant ? nullptr : &*spell;
}

double goodput_with_interval(const sim::RunPlan& run, std::int64_t steps, std::uint64_t seed) {
    sim::RunJob job = run.figures.job;
    const sim::SaveIntervals intervals = sim::intervals_of(job, std::max<std::int64_t>(1, steps));
    job.save_every = intervals.save_every;
    job.remote_every = intervals.remote_every;
    return sim::figures_of(job, kDraggedDraws, seed).goodput();
}

ScenarioText with_interval(ScenarioText source, const sim::RunPlan& run, std::int64_t steps) {
    const double seconds = static_cast<double>(steps) * run.figures.job.step;
    return with_part_key(std::move(source),
                         {"reliability.checkpoint.every", fmt::format("{:.6g} s", seconds)});
}

}  // namespace debubble::gui
