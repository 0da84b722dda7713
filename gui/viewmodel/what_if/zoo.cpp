#include "gui/viewmodel/what_if/zoo.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/cancelled.h"
#include "base/diagnostic.h"
#include "gui/viewmodel/what_if/field.h"
#include "gui/viewmodel/what_if/figures.h"
#include "scenarios/edit.h"
#include "schedule/generators/generators.h"
#include "sim/grid/parallel.h"
#include "sim/predict.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

constexpr int kSmallWidth = 960;  ///< columns of the longest step

/// One schedule with one number of stages per rank.
struct Try {
    std::size_t generator = 0;
    int stages = 1;
    std::optional<std::string> why_not = {};
    sim::Prediction figures = {};
    scenarios::Scenario scenario = {};
    Trace trace = {};  ///< of the best number of stages

    bool fits_without_allocator() const { return figures.memory_left_of_requested >= Bytes{}; }
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

sim::PredictOptions figures_without_allocator(const std::stop_token& stop) {
    sim::PredictOptions options;
    options.keep_trace = false;
    options.hash_program = false;
    options.explain = false;
    options.draw_loads = false;
    options.play_allocator = false;
    options.stop = stop;
    return options;
}

/// Calls `work`, and keeps its mistakes as the reason why the plan cannot be had.
template <class Work>
void attempt(Try& one, const Work& work) {
    try {
        work();
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

/// Each schedule with the numbers of stages that it takes, among them the written one.
std::vector<std::vector<Try>> tries_of(const ScenarioText& source) {
    std::set<int> numbers{1, 2, 4};
    for (const char* key : {"schedule.stages_per_rank", "parallel.stages_per_rank"})
        if (const auto written = scenarios::written_at(source.text, source.file, key))
            if (const int number = std::atoi(written->c_str()); number > 0) numbers.insert(number);
    std::vector<std::vector<Try>> tries(generators().size());
    for (std::size_t g = 0; g < generators().size(); ++g) {
        if (const auto only = generators()[g].stages_per_rank)
            tries[g].push_back({g, *only});
        else
            for (const int stages : numbers) tries[g].push_back({g, stages});
    }
    return tries;
}

/// Predicts schedules of a scenario that is read once.
class ZooKeeper {
public:
    ZooKeeper(const ScenarioText& source, std::stop_token stop)
        : source_(source), stop_(std::move(stop)), scenario_(source.text, source.file) {
        const ScenarioText any = with_change(source, "schedule", "gpipe");
        if (scenarios::written_at(any.text, any.file, "schedule.stages_per_rank"))
            stages_key_ = "schedule.stages_per_rank";
    }

    /// The step and the memory that is requested.
    void look_at(Try& one) const {
        give_up_if(stop_);
        attempt(one, [&] {
            const std::string name(generators()[one.generator].name);
            std::vector<scenarios::Override> changes = changes_for(source_, "schedule", name);
            changes.emplace_back(stages_key_, std::to_string(one.stages));
            one.scenario = scenario_.instantiate(changes);
            one.figures = sim::predict(one.scenario, figures_without_allocator(stop_)).prediction;
        });
    }

    /// The number of stages with which a schedule is the fastest that fits. What an allocator
    /// reserves is asked of the fastest first, and of others only if that one does not fit.
    Try best_of(std::vector<Try>& tries) const {
        std::ranges::stable_sort(tries, [](const Try& a, const Try& b) {
            if (!a.why_not && !b.why_not &&
                a.fits_without_allocator() != b.fits_without_allocator())
                return a.fits_without_allocator();
            return is_better(a, b);
        });
        for (Try& one : tries) {
            if (one.why_not || !one.fits_without_allocator()) break;
            if (play(one); !one.why_not && one.figures.fits) return std::move(one);
        }
        Try& best = *std::ranges::min_element(tries, is_better);
        if (!best.why_not && best.trace.spans.empty()) play(best);
        return std::move(best);
    }

private:
    void play(Try& one) const {
        give_up_if(stop_);
        attempt(one, [&] {
            sim::PredictOptions options = figures_without_allocator(stop_);
            options.keep_trace = true;
            options.play_allocator = true;
            options.only_where_it_decides = true;
            sim::PredictionWithTrace played = sim::predict(one.scenario, options);
            one.figures = std::move(played.prediction);
            one.trace = std::move(played.trace);
        });
    }

    const ScenarioText& source_;
    std::stop_token stop_;
    scenarios::ScenarioTemplate scenario_;
    std::string stages_key_ = "parallel.stages_per_rank";
};

}  // namespace

ScenarioText with_schedule(const ScenarioText& source, const ZooRow& row) {
    return with_stages(source, row.schedule, row.stages_per_rank);
}

std::vector<std::size_t> pinned_first(const std::vector<ZooRow>& rows,
                                      const std::vector<std::string>& pinned) {
    std::vector<std::size_t> order;
    const auto is_pinned = [&](const ZooRow& row) {
        return std::ranges::find(pinned, row.schedule) != pinned.end();
    };
    for (const std::string& name : pinned)
        if (const auto at = std::ranges::find(rows, name, &ZooRow::schedule); at != rows.end())
            order.push_back(static_cast<std::size_t>(at - rows.begin()));
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!is_pinned(rows[i])) order.push_back(i);
    return order;
}

std::string step_words(const ZooRow& row, const std::vector<ZooRow>& rows,
                       const std::vector<std::string>& pinned) {
    std::string words = text::time_text(row.step_s);
    if (pinned.empty() || pinned.front() == row.schedule) return words;
    const auto base = std::ranges::find(rows, pinned.front(), &ZooRow::schedule);
    if (base == rows.end() || !base->possible()) return words;
    return fmt::format("{}, {:+.1f} %", words, 100 * (row.step_s / base->step_s - 1));
}

std::vector<ZooRow> schedule_zoo(const ScenarioText& source, const std::stop_token& stop) {
    const ZooKeeper keeper(source, stop);
    std::vector<std::vector<Try>> tries = tries_of(source);
    std::vector<Try*> all;
    for (std::vector<Try>& of_schedule : tries)
        for (Try& one : of_schedule) all.push_back(&one);
    sim::run_parallel(all.size(), 0, nullptr, [&](std::size_t i) { keeper.look_at(*all[i]); });
    std::vector<Try> best(tries.size());
    sim::run_parallel(tries.size(), 0, nullptr,
                      [&](std::size_t g) { best[g] = keeper.best_of(tries[g]); });
    std::ranges::stable_sort(best, is_better);
    double longest = 0;
    std::vector<ZooRow> rows;
    const std::string present =
        scenarios::written_at(source.text, source.file, "schedule.name").value_or("1f1b");
    for (const Try& one : best) {
        rows.push_back(row_of(one));
        rows.back().present = rows.back().schedule == present;
        longest = std::max(longest, rows.back().step_s);
    }
    sim::run_parallel(rows.size(), 0, nullptr, [&](std::size_t i) {
        give_up_if(stop);
        if (rows[i].possible())
            rows[i].picture = small_timeline(best[i].trace, from_seconds(longest), kSmallWidth);
    });
    return rows;
}

}  // namespace debubble::gui
