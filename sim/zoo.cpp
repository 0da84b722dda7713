#include "sim/zoo.h"

#include <algorithm>
#include <set>
#include <thread>

#include "base/cancelled.h"
#include "base/diagnostic.h"
#include "schedule/generators/generators.h"
#include "sim/grid/parallel.h"
#include "sim/predict.h"
#include "trace/picture/document.h"
#include "trace/picture/raster.h"

namespace debubble::sim {
namespace {

constexpr int kSmallWidth = 480;        ///< columns of the longest step
constexpr std::size_t kMostLines = 16;  ///< ranks that a small picture shows

/// One schedule with one number of stages per rank.
struct Try {
    std::size_t generator = 0;
    int stages = 1;
    std::optional<std::string> why_not = {};
    Prediction figures = {};
    scenarios::Scenario scenario = {};
};

PredictOptions figures_only(const std::stop_token& stop) {
    PredictOptions options;
    options.keep_trace = false;
    options.hash_program = false;
    options.explain = false;
    options.draw_loads = false;
    options.only_where_it_decides = true;
    options.stop = stop;
    return options;
}

void predict_try(const ZooRequest& request, Try& one, const std::stop_token& stop) {
    try {
        const std::string name(generators()[one.generator].name);
        one.scenario = request.plan_with(name, one.stages);
        one.figures = predict(one.scenario, figures_only(stop)).prediction;
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

double exposed_share_of(const Prediction& p) {
    double exposed = 0;
    for (const RankPrediction& rank : p.ranks) exposed += rank.exposed_comm_s;
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
    for (const RankPrediction& rank : best.figures.ranks)
        row.peak = std::max(row.peak, rank.peak_memory);
    row.fits = best.figures.fits;
    return row;
}

/// Draws a step on an axis as long as the longest of all.
SmallTimeline small_timeline(const scenarios::Scenario& scenario, double longest_s,
                             const std::stop_token& stop) {
    PredictOptions options = figures_only(stop);
    options.keep_trace = true;
    options.play_allocator = false;
    PredictionWithTrace answer = predict(scenario, options);
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

/// Each schedule with the numbers of stages that it takes.
std::vector<Try> tries_of(std::set<int> numbers) {
    numbers.insert({1, 2, 4});
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

std::vector<ZooRow> schedule_zoo(const ZooRequest& request, const std::stop_token& stop) {
    std::vector<Try> tries = tries_of(request.stages);
    run_parallel(tries.size(), cores_but_one(), nullptr, [&](std::size_t i) {
        give_up_if(stop);
        predict_try(request, tries[i], stop);
    });
    std::vector<Try*> best(generators().size(), nullptr);
    for (Try& one : tries)
        if (Try*& now = best[one.generator]; now == nullptr || is_better(one, *now)) now = &one;
    std::ranges::stable_sort(best, [](const Try* a, const Try* b) { return is_better(*a, *b); });
    double longest = 0;
    std::vector<ZooRow> rows;
    for (const Try* one : best) {
        rows.push_back(row_of(*one));
        rows.back().present = rows.back().schedule == request.present;
        longest = std::max(longest, rows.back().step_s);
    }
    run_parallel(rows.size(), cores_but_one(), nullptr, [&](std::size_t i) {
        give_up_if(stop);
        if (rows[i].possible()) rows[i].picture = small_timeline(best[i]->scenario, longest, stop);
    });
    return rows;
}

}  // namespace debubble::sim
