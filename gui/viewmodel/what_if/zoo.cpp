#include "gui/viewmodel/what_if/zoo.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <thread>

#include "base/cancelled.h"
#include "base/diagnostic.h"
#include "gui/viewmodel/what_if/field.h"
#include "gui/viewmodel/what_if/figures.h"
#include "scenarios/edit.h"
#include "schedule/generators/generators.h"
#include "sim/grid/parallel.h"
#include "sim/predict.h"
#include "trace/picture/document.h"
#include "trace/picture/raster.h"

namespace debubble::gui {
namespace {

constexpr int kSmallWidth = 480;        ///< columns of the longest step
constexpr std::size_t kMostLines = 16;  ///< ranks that a small picture shows

/// One schedule with one number of stages per rank.
struct Try {
    std::size_t generator = 0;
    int stages = 1;
    std::optional<std::string> why_not = {};
    sim::Prediction figures = {};
    scenarios::Scenario scenario = {};
};

ScenarioText with_stages(const ScenarioText& source, const std::string& schedule, int stages) {
    ScenarioText changed = with_change(source, "schedule", schedule);
    const std::string of_schedule = "schedule.stages_per_rank";
    const bool inner = scenarios::written_at(changed.text, changed.file, of_schedule).has_value();
    changed.text = scenarios::with_key(
        changed.text, changed.file,
        {inner ? of_schedule : "parallel.stages_per_rank", std::to_string(stages)});
    return changed;
}

sim::PredictOptions figures_only(const std::stop_token& stop) {
    sim::PredictOptions options;
    options.keep_trace = false;
    options.hash_program = false;
    options.explain = false;
    options.draw_loads = false;
    options.only_where_it_decides = true;
    options.stop = stop;
    return options;
}

void predict_try(const ScenarioText& source, Try& one, const std::stop_token& stop) {
    try {
        const std::string name(generators()[one.generator].name);
        const ScenarioText text = with_stages(source, name, one.stages);
        one.scenario = scenarios::parse_scenario(text.text, text.file);
        one.figures = sim::predict(one.scenario, figures_only(stop)).prediction;
    } catch (const InputError& error) {
        one.why_not = error.diagnostics().front().message;
    } catch (const Cancelled&) {
        throw;
    } catch (const std::exception& error) {  // such as an order that deadlocks
        one.why_not = error.what();
    }
}

bool is_better(const Try& a, const Try& b) {
    if (a.why_not.has_value() != b.why_not.has_value()) return !a.why_not;
    if (a.figures.fits != b.figures.fits) return a.figures.fits;
    return a.figures.step_time_s < b.figures.step_time_s;
}

double exposed_share_of(const sim::Prediction& p) {
    double exposed = 0;
    for (const sim::RankPrediction& rank : p.ranks) exposed += rank.exposed_comm_s;
    const double all = p.step_time_s * static_cast<double>(p.ranks.size());
    return all > 0 ? exposed / all : 0;
}

ZooRow row_of(const Try& best) {
    const Generator& generator = generators()[best.generator];
    ZooRow row{std::string(generator.name), std::string(generator.summary), best.stages};
    row.why_not = best.why_not;
    if (best.why_not) return row;
    row.step_s = best.figures.step_time_s;
    row.bubble = best.figures.bubble;
    row.exposed = exposed_share_of(best.figures);
    row.peak = worst_peak(best.figures);
    row.fits = best.figures.fits;
    return row;
}

/// Draws a step on an axis as long as the longest of all.
SmallTimeline small_timeline(const scenarios::Scenario& scenario, double longest_s,
                             const std::stop_token& stop) {
    sim::PredictOptions options = figures_only(stop);
    options.keep_trace = true;
    options.play_allocator = false;
    sim::PredictionWithTrace answer = sim::predict(scenario, options);
    const auto document =
        picture::make_document(std::move(answer.trace), std::move(answer.statistics), {}, stop);
    const Instant begin = document->range.begin;
    const picture::TimeAxis axis({begin, begin + from_seconds(longest_s)}, kSmallWidth);
    SmallTimeline small{kSmallWidth, {}, {}};
    for (const picture::Theme theme : {picture::Theme::Light, picture::Theme::Dark}) {
        const auto colours = picture::colour(*document, {theme});
        auto& lines = theme == picture::Theme::Light ? small.light : small.dark;
        const picture::BarGround ground{document->range, picture::paint(Paint::Bubble, theme),
                                        picture::ground_of(theme).window};
        const std::size_t step = document->devices.size() / kMostLines + 1;
        for (std::size_t d = 0; d < document->devices.size(); d += step) {
            const picture::DeviceColours& of_device = colours->devices[d];
            std::vector<const picture::ColourSums*> tracks{&of_device.work};
            if (of_device.lower_half) tracks.push_back(&*of_device.lower_half);
            lines.push_back(picture::mean_colours(tracks, axis, ground));
        }
    }
    return small;
}

int cores_but_one() {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
}

/// Each schedule with the numbers of stages that it takes, among them the written one.
std::vector<Try> tries_of(const ScenarioText& source) {
    std::set<int> numbers{1, 2, 4};
    for (const char* key : {"schedule.stages_per_rank", "parallel.stages_per_rank"})
        if (const auto written = scenarios::written_at(source.text, source.file, key))
            if (const int number = std::atoi(written->c_str()); number > 0) numbers.insert(number);
    std::vector<Try> tries;
    for (std::size_t g = 0; g < generators().size(); ++g) {
        if (const auto only = generators()[g].stages_per_rank) {
            tries.push_back({g, *only});
            continue;
        }
        for (const int stages : numbers) tries.push_back({g, stages});
    }
    return tries;
}

}  // namespace

ScenarioText with_schedule(const ScenarioText& source, const ZooRow& row) {
    return with_stages(source, row.schedule, row.stages_per_rank);
}

std::vector<ZooRow> schedule_zoo(const ScenarioText& source, const std::stop_token& stop) {
    std::vector<Try> tries = tries_of(source);
    sim::run_parallel(tries.size(), cores_but_one(), nullptr, [&](std::size_t i) {
        give_up_if(stop);
        predict_try(source, tries[i], stop);
    });
    std::vector<Try*> best(generators().size(), nullptr);
    for (Try& one : tries)
        if (Try*& now = best[one.generator]; now == nullptr || is_better(one, *now)) now = &one;
    std::ranges::stable_sort(best, [](const Try* a, const Try* b) { return is_better(*a, *b); });
    double longest = 0;
    std::vector<ZooRow> rows;
    const std::string present =
        scenarios::written_at(source.text, source.file, "schedule.name").value_or("1f1b");
    for (const Try* one : best) {
        rows.push_back(row_of(*one));
        rows.back().present = rows.back().schedule == present;
        longest = std::max(longest, rows.back().step_s);
    }
    sim::run_parallel(rows.size(), cores_but_one(), nullptr, [&](std::size_t i) {
        give_up_if(stop);
        if (rows[i].possible()) rows[i].picture = small_timeline(best[i]->scenario, longest, stop);
    });
    return rows;
}

}  // namespace debubble::gui
