#include "gui/viewmodel/what_if/run_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/words.h"
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
constexpr double kIntervalReach = 16;  ///< from a sixteenth of the present and best intervals
constexpr int kIntervalPlaces = 33;
constexpr double kTokensPerParameter = 20;
constexpr double kRounding = 1e-6;  ///< of a step, by which sums of its times may differ

RunOnNodes point_of(const sim::Prediction& prediction, int nodes) {
    const sim::RunPlan& run = *prediction.run;
    const sim::RunFigures& figures = run.figures;
    return {
        nodes,   run.gpus, figures.p5_s / kDay, run.days(), figures.p95_s / kDay, figures.goodput(),
        run.cost};
}

/// The number rounded to its first digit: "30B" for 28.7 billion.
std::string round_tokens(double tokens) {
    const double power = std::pow(10, std::floor(std::log10(std::max(tokens, 1e6))));
    const double round = std::max(1.0, std::round(tokens / power)) * power;
    if (round >= 1e12) return fmt::format("{:g}T", round / 1e12);
    if (round >= 1e9) return fmt::format("{:g}B", round / 1e9);
    return fmt::format("{:g}M", std::max(1.0, round / 1e6));
}

/// The divisor of a number with the ratio to `wanted` nearest to 1.
int nearest_divisor(int number, double wanted) {
    int nearest = 1;
    for (int divisor = 1; divisor <= number; ++divisor)
        if (number % divisor == 0 &&
            std::abs(std::log(divisor / wanted)) < std::abs(std::log(nearest / wanted)))
            nearest = divisor;
    return nearest;
}

bool is_downtime(sim::RunTime spent) {
    using enum sim::RunTime;
    return spent == Detection || spent == Restart || spent == Spares;
}

}  // namespace

std::vector<scenarios::Override> missing_run_keys(const scenarios::Scenario& scenario,
                                                  std::int64_t parameters) {
    std::vector<scenarios::Override> keys;
    if (!scenario.training.run.tokens)
        keys.emplace_back("training.tokens",
                          round_tokens(kTokensPerParameter * static_cast<double>(parameters)));
    if (!scenario.reliability) keys.emplace_back("reliability", "llama3-2024");
    return keys;
}

ScenarioText with_run_key(ScenarioText source, const scenarios::Override& key) {
    if (key.first == "training.tokens")
        for (const char* length : {"training.steps", "training.epochs"})
            if (scenarios::written_at(source.text, source.file, length))
                source = with_part_key(std::move(source), {length, "null"});
    return with_part_key(std::move(source), key);
}

std::vector<int> nodes_around(int present, int replica) {
    std::vector<int> numbers;
    for (int half_steps = -4; half_steps <= 4; ++half_steps) {
        const double wanted = present * std::exp2(half_steps / 2.0);
        const int nodes = std::max(1, static_cast<int>(std::lround(wanted / replica))) * replica;
        if (numbers.empty() || numbers.back() != nodes) numbers.push_back(nodes);
    }
    return numbers;
}

std::vector<int> nodes_around(const scenarios::Scenario& scenario) {
    const scenarios::Parallel& parallel = scenario.parallel;
    const int each = scenario.cluster.gpus_per_node;
    const int replica = parallel.tensor * parallel.context * parallel.pipeline;
    // Ranks of whole replicas and of whole groups that share experts.
    const int unit =
        std::lcm(replica, parallel.pipeline * parallel.expert * parallel.expert_tensor);
    const int present = std::max(1, scenario.gpus / each);
    const std::vector<int> even = nodes_around(present, std::lcm(unit, each) / each);
    const auto batch = scenario.given.find("training.global_batch");
    if (batch == scenario.given.end() || batch->second == "null") return even;
    std::vector<int> numbers;
    const int most = scenario.training.global_batch / scenario.training.micro_batch;
    for (const int nodes : even) {
        const double wanted = static_cast<double>(nodes) * each / replica;
        const int gpus = nearest_divisor(most, wanted) * replica;
        if (gpus % each == 0 && gpus % unit == 0) numbers.push_back(gpus / each);
    }
    numbers.push_back(present);
    std::ranges::sort(numbers);
    const auto repeated = std::ranges::unique(numbers);
    numbers.erase(repeated.begin(), repeated.end());
    return numbers;
}

ScenarioText with_nodes(ScenarioText source, int nodes) {
    source = with_part_key(std::move(source), {"nodes", fmt::format("{}", nodes)});
    for (const auto& [key, value] : {std::pair("gpus", "null"), std::pair("parallel.data", "auto")})
        if (scenarios::written_at(source.text, source.file, key))
            source = with_part_key(std::move(source), {key, value});
    return source;
}

std::vector<RunOnNodes> runs_over_nodes(const ScenarioText& source, const std::vector<int>& nodes,
                                        const std::stop_token& stop) {
    std::vector<std::optional<RunOnNodes>> found(nodes.size());
    for_each_in_parallel(nodes.size(), stop, [&](std::size_t i) {
        const auto figures = figures_of_plan(with_nodes(source, nodes[i]), stop);
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
        parts.push_back(
            {spent, from, from + share, said_cause(spent),
             fmt::format("{}, {}", sim::span_words(figures.seconds[c]), text::percent(share))});
        from += share;
    }
    return parts;
}

std::string said_cause(sim::RunTime spent) {
    return said("whole run", std::string(sim::words_of(spent)));
}

Rgb colour_of(sim::RunTime spent, picture::Theme theme) {
    const picture::Ground& ground = picture::ground_of(theme);
    switch (spent) {
        case sim::RunTime::Useful: return picture::paint(Paint::Forward, theme);
        case sim::RunTime::Recompute: return picture::paint(Paint::Backward, theme);
        case sim::RunTime::Checkpoint: return picture::paint(Paint::Weight, theme);
        case sim::RunTime::Detection: return picture::paint(Paint::Optimizer, theme);
        case sim::RunTime::Restart: return picture::paint(Paint::Collective, theme);
        case sim::RunTime::Spares: return picture::paint(Paint::PointToPoint, theme);
        case sim::RunTime::Degraded: return ground.memory_lasting;
        case sim::RunTime::SlowRank: return ground.warning;
        case sim::RunTime::Maintenance: return ground.memory_edge;
    }
    return ground.text;
}

RunStrip::RunStrip(const sim::RunPlan& run, std::uint64_t seed, int number)
    : step_(run.figures.job.step) {
    sim::DrawnRun drawn = sim::draw_run(run.figures.job, seed, number, true);
    spells_ = std::move(drawn.spells);
    wall_ = drawn.wall;
    for (std::size_t i = 1; i < spells_.size(); ++i) {
        const sim::RunTime before = spells_[i - 1].spent;
        if (is_downtime(spells_[i].spent) && !is_downtime(before) &&
            before != sim::RunTime::Maintenance)
            failures_.push_back(spells_[i].begin);
    }
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

std::vector<double> RunStrip::step_ends(double from, double to, std::size_t most) const {
    std::vector<double> ends;
    if ((to - from) / step_ > static_cast<double>(most)) return ends;
    auto spell = std::ranges::upper_bound(spells_, from, {}, &sim::RunSpell::end);
    for (; spell != spells_.end() && spell->begin < to; ++spell) {
        if (spell->spent != sim::RunTime::Useful) continue;
        const double whole = std::floor(spell->work / step_ + kRounding);
        double end = spell->end - (spell->work - whole * step_);
        for (; end > std::max(spell->begin, from) + kRounding * step_; end -= step_)
            if (end < to) ends.push_back(end);
    }
    std::ranges::sort(ends);
    return ends;
}

double goodput_with_interval(const sim::RunPlan& run, std::int64_t steps, std::uint64_t seed) {
    sim::RunJob job = run.figures.job;
    const sim::SaveIntervals intervals = sim::intervals_of(job, std::max<std::int64_t>(1, steps));
    job.save_every = intervals.save_every;
    job.remote_every = intervals.remote_every;
    return sim::figures_of(job, kDraggedDraws, seed).goodput();
}

IntervalCurve interval_curve(const sim::RunPlan& run, std::uint64_t seed,
                             const std::stop_token& stop) {
    const sim::RunJob& job = run.figures.job;
    IntervalCurve curve;
    if (job.failures.sum() <= 0) return curve;
    const std::int64_t present = job.save_every;
    const std::int64_t best = sim::best_intervals(job).save_every;
    const auto low = static_cast<double>(std::min(present, best)) / kIntervalReach;
    const auto high = static_cast<double>(std::max(present, best)) * kIntervalReach;
    std::vector<std::int64_t> numbers{present, best};
    for (int i = 0; i < kIntervalPlaces; ++i) {
        const double wanted = low * std::pow(high / low, i / (kIntervalPlaces - 1.0));
        const std::int64_t steps = std::clamp<std::int64_t>(std::llround(wanted), 1, run.steps);
        numbers.push_back(sim::intervals_of(job, steps).save_every);
    }
    std::ranges::sort(numbers);
    const auto repeated = std::ranges::unique(numbers);
    numbers.erase(repeated.begin(), repeated.end());
    curve.places.resize(numbers.size());
    for_each_in_parallel(numbers.size(), stop, [&](std::size_t i) {
        curve.places[i] = {numbers[i], static_cast<double>(numbers[i]) * job.step,
                           goodput_with_interval(run, numbers[i], seed)};
    });
    const auto place_of = [&](std::int64_t steps) {
        return static_cast<std::size_t>(std::ranges::find(numbers, steps) - numbers.begin());
    };
    curve.present = place_of(present);
    curve.best = place_of(best);
    return curve;
}

ScenarioText with_interval(ScenarioText source, const sim::RunPlan& run, std::int64_t steps) {
    const double seconds = static_cast<double>(steps) * run.figures.job.step;
    return with_part_key(std::move(source),
                         {"reliability.checkpoint.every", fmt::format("{:.6g} s", seconds)});
}

ScenarioText with_best_interval(ScenarioText source) {
    return with_part_key(std::move(source), {"reliability.checkpoint.every", "auto"});
}

RunView run_view_of(const scenarios::Scenario& scenario, const sim::RunPlan& run,
                    const std::stop_token& stop) {
    const auto seed =
        static_cast<std::uint64_t>(scenario.reliability ? scenario.reliability->seed : 1);
    return {waterfall_of(run), RunStrip(run, seed, 0), interval_curve(run, seed, stop)};
}

}  // namespace debubble::gui
