#include "sim/zoo.h"

#include <algorithm>
#include <set>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "schedule/generators/generators.h"
#include "sim/allocators_later.h"
#include "sim/predict.h"

namespace debubble::sim {
namespace {

constexpr int kSmallWidth = 960;  ///< columns of the longest step

/// One schedule with one number of stages per rank.
struct Try {
    std::size_t generator = 0;
    int stages = 1;
    std::optional<std::string> why_not = {};
    Prediction figures = {};
    std::shared_ptr<const StepToAllocate> to_allocate = {};  ///< until a number of stages is best
    SmallBars bars = {};                                     ///< of the step

    bool fits_without_allocator() const { return figures.memory_left_of_requested >= Bytes{}; }
};

PredictOptions figures_without_allocator(const std::stop_token& stop) {
    PredictOptions options;
    options.keep_trace = false;
    options.hash_program = false;
    options.explain = false;
    options.draw_loads = false;
    options.play_allocator = false;
    options.allocators_later = true;
    options.keep_spans = true;
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

/// Each schedule with the numbers of stages that it takes.
std::vector<std::vector<Try>> tries_of(std::set<int> numbers) {
    numbers.insert({1, 2, 4});
    std::vector<std::vector<Try>> tries(generators().size());
    for (std::size_t g = 0; g < generators().size(); ++g) {
        if (const auto only = generators()[g].stages_per_rank)
            tries[g].push_back({g, *only});
        else
            for (const int stages : numbers) tries[g].push_back({g, stages});
    }
    return tries;
}

class ZooKeeper {
public:
    ZooKeeper(const ZooRequest& request, std::stop_token stop)
        : request_(request), stop_(std::move(stop)) {}

    /// The number of stages with which a schedule is the fastest that fits. What an allocator
    /// reserves is asked of the fastest first, and of others only if that one does not fit. Only
    /// its figures and bars are kept.
    Try best_of(std::vector<Try>& tries) const {
        for (Try& one : tries) look_at(one);
        std::ranges::stable_sort(tries, [](const Try& a, const Try& b) {
            if (!a.why_not && !b.why_not &&
                a.fits_without_allocator() != b.fits_without_allocator())
                return a.fits_without_allocator();
            return is_better(a, b);
        });
        for (Try& one : tries) {
            if (one.why_not || !one.fits_without_allocator()) break;
            if (play(one); !one.why_not && one.figures.fits) return taken(tries, one);
        }
        Try& best = *std::ranges::min_element(tries, is_better);
        if (!best.why_not) play(best);
        return taken(tries, best);
    }

private:
    /// The step and the memory that is requested.
    void look_at(Try& one) const {
        give_up_if(stop_);
        attempt(one, [&] {
            const std::string name(generators()[one.generator].name);
            PredictionWithTrace played =
                predict(request_.plan_with(name, one.stages), figures_without_allocator(stop_));
            one.figures = std::move(played.prediction);
            one.to_allocate = std::move(played.to_allocate);
            one.bars = small_bars(played.trace.spans);
        });
    }

    void play(Try& one) const {
        if (!one.to_allocate) return;  // it has been played
        give_up_if(stop_);
        attempt(one, [&] { play_allocators(one.figures, *one.to_allocate, true, stop_); });
        one.to_allocate = nullptr;
    }

    static Try taken(std::vector<Try>& tries, Try& one) {
        Try best = std::move(one);
        tries.clear();
        return best;
    }

    const ZooRequest& request_;
    std::stop_token stop_;
};

}  // namespace

std::vector<ZooRow> schedule_zoo(const ZooRequest& request, const std::stop_token& stop) {
    const ZooKeeper keeper(request, stop);
    std::vector<std::vector<Try>> tries = tries_of(request.stages);
    std::vector<Try> best(tries.size());
    run_parallel(tries.size(), 0, nullptr,
                 [&](std::size_t g) { best[g] = keeper.best_of(tries[g]); });
    std::ranges::stable_sort(best, is_better);
    double longest = 0;
    std::vector<ZooRow> rows;
    for (const Try& one : best) {
        rows.push_back(row_of(one));
        rows.back().present = rows.back().schedule == request.present;
        longest = std::max(longest, rows.back().step_s);
    }
    run_parallel(rows.size(), 0, nullptr, [&](std::size_t i) {
        give_up_if(stop);
        if (rows[i].possible())
            rows[i].picture = small_timeline(best[i].bars, from_seconds(longest), kSmallWidth);
    });
    return rows;
}

}  // namespace debubble::sim
