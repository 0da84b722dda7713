#include "sim/grid/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/plan.h"
#include "sim/grid/compare_plans.h"
#include "sim/plan/plan_bound.h"

namespace debubble::sim {
namespace {

struct ObjectiveRow {
    std::string_view name;
    std::string_view figure;
    double sign;  ///< +1: the greatest is best
};

constexpr ArrayBy<Objective, ObjectiveRow, 6> kObjectives{
    ObjectiveRow{"tokens_per_s", "tokens_per_s", 1},
    ObjectiveRow{"mfu", "mfu", 1},
    ObjectiveRow{"step_time_s", "step_time_s", -1},
    ObjectiveRow{"peak_memory", "peak_memory_bytes", -1},
    ObjectiveRow{"days", "days", -1},
    ObjectiveRow{"cost", "cost", -1},
};

const ObjectiveRow& row_of(Objective objective) {
    return kObjectives[objective];
}

/// The row's value of the objective, where greater is better.
double score(const SweepRow& row, Objective objective) {
    const double figure = row.figure(row_of(objective).figure);
    if (std::isnan(figure))
        throw InputError(fmt::format("cannot choose by {}: {}", row_of(objective).name,
                                     is_of_run(objective)
                                         ? "it takes training.tokens (--tokens), and cost also "
                                           "price.gpu_hour"
                                         : "the peak rate of this GPU is not known"));
    return row_of(objective).sign * figure;
}

/// A plan that may still be the best, and an upper bound of its score: by its own bound, or by that
/// of the plan without recomputation, which is faster.
struct Candidate {
    std::size_t index = 0;
    double promise = 0;
    bool own = true;
    RunPoint run = {};  ///< minimum of the whole training's days
};

/// The whole training at the bound of the step, without any stop.
RunPoint least_run(const PlanBound& bound, const scenarios::Scenario& scenario) {
    if (!scenario.training.run.tokens) return {};
    const auto per_step = static_cast<double>(scenario.training.global_batch) *
                          static_cast<double>(scenario.training.seq_length);
    const double steps = static_cast<double>(*scenario.training.run.tokens) / per_step;
    const double days = steps * bound.step_time_s / 86400;
    const double hours = 24 * days * scenario.gpus;
    return {days, scenario.price ? hours * scenario.price->gpu_hour : hours};
}

double promise_of(const PlanBound& bound, const scenarios::Scenario& scenario,
                  Objective objective) {
    const auto tokens = static_cast<double>(scenario.training.global_batch) *
                        static_cast<double>(scenario.training.seq_length);
    switch (objective) {
        case Objective::TokensPerS: return tokens / bound.step_time_s;
        case Objective::StepTime: return -bound.step_time_s;
        case Objective::PeakMemory: return -static_cast<double>(bound.memory.count);
        case Objective::Days: return -least_run(bound, scenario).days;
        case Objective::Cost: return -least_run(bound, scenario).cost;
        case Objective::Mfu:
            return scenarios::model_flops_per_step(scenario) / bound.step_time_s /
                   scenario.parallel.gpus() / scenarios::peak_flops_per_s(scenario).value_or(0);
    }
    return 0;
}

class Race {
public:
    Race(const Grid& grid, std::span<const std::size_t> points, Objective objective,
         const BatchOptions& options, std::size_t ranks)
        : grid_(grid), points_(points), objective_(objective), options_(options), ranks_(ranks) {
        result_.points = points.size();
    }

    SearchResult run() {
        std::vector<Candidate> candidates = bound_all();
        // The most promising come first, so that the others are ruled out as soon as possible.
        std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
            return a.promise != b.promise ? a.promise > b.promise : a.index < b.index;
        });
        run_parallel(candidates.size(), options_.jobs.value_or(0), options_.stop,
                     [&](std::size_t i) { play(candidates[i]); });
        find_duplicates();
        sort_played();
        result_.finished = decided_ == result_.points;
        return std::move(result_);
    }

private:
    /// The points without recomputation first: their bounds are bounds of the others.
    std::vector<Candidate> bound_all() {
        std::vector<std::size_t> first;
        std::vector<Candidate> later;
        for (const std::size_t index : points_) {
            const bool other = objective_ != Objective::PeakMemory && !is_of_run(objective_) &&
                               !grid_.correction && without_recompute(grid_, index).has_value();
            if (other)
                later.push_back({index, 0, false, {}});
            else
                first.push_back(index);
        }
        std::vector<Candidate> candidates;
        run_parallel(first.size(), options_.jobs.value_or(0), options_.stop, [&](std::size_t i) {
            const auto bounded = bound(first[i]);
            const std::lock_guard lock(mutex_);
            if (bounded) candidates.push_back(*bounded);
        });
        for (Candidate& candidate : later) {
            const auto of_other = promises_.find(*without_recompute(grid_, candidate.index));
            candidate.promise = of_other != promises_.end()
                                    ? of_other->second
                                    : std::numeric_limits<double>::infinity();
            candidates.push_back(candidate);
        }
        return candidates;
    }

    /// A point with its own bound; nothing where that rules it out.
    std::optional<Candidate> bound(std::size_t index) {
        try {
            const scenarios::Scenario scenario = grid_.instantiate(index);
            if (!not_ranked(grid_, scenario).empty()) {
                leave_out();
                return std::nullopt;
            }
            PlanBound bound = bound_of(scenario);
            if (draws_steps(grid_, scenario)) bound.step_time_s = 0;
            if (grid_.correction) bound = corrected(bound);
            const double promise = promise_of(bound, scenario, objective_);
            const std::lock_guard lock(mutex_);
            promises_[index] = promise;
            const RunPoint run = least_run(bound, scenario);
            if (!bound.fits())
                record(result_.too_big);
            else if (options_.most_days && run.days > *options_.most_days)
                record(result_.too_late);
            else
                return Candidate{index, promise, true, run};
        } catch (const InputError&) {
            rule_out_impossible();
        } catch (const scenarios::InvalidSchedule&) {
            rule_out_impossible();
        }
        return std::nullopt;
    }

    /// The bounds that remain valid with a measured step: of memory only the device's limit.
    PlanBound corrected(PlanBound bound) const {
        bound.step_time_s *= grid_.correction->least;
        bound.memory = Bytes{};
        return bound;
    }

    void rule_out_impossible() {
        const std::lock_guard lock(mutex_);
        record(result_.impossible);
    }

    void leave_out() {
        const std::lock_guard lock(mutex_);
        record(result_.lacking);
    }

    /// Records a point that cannot be among the best.
    bool is_too_slow(const Candidate& candidate) {
        const std::lock_guard lock(mutex_);
        if (!cannot_win(candidate)) return false;
        record(result_.too_slow);
        return true;
    }

    void play(Candidate candidate) {
        if (is_too_slow(candidate)) return;
        if (!candidate.own) {
            const auto bounded = bound(candidate.index);
            if (!bounded || is_too_slow(*bounded)) return;
        }
        const SweepRow row = evaluate(grid_, candidate.index, options_.choosing);
        const std::lock_guard lock(mutex_);
        record(row.possible() ? result_.predicted : result_.impossible);
        if (!row.fits) return;
        if (is_late(row)) {
            result_.played.push_back(row);
            return;
        }
        const double of_row = score(row, objective_);
        if (std::ranges::none_of(result_.played,
                                 [&](const SweepRow& known) { return are_duplicates(known, row); }))
            rank(of_row);
        result_.played.push_back(row);
        const double of_best = result_.best ? score(*result_.best, objective_) : of_row;
        if (of_row < of_best) return;
        if (of_row > of_best) as_good_.clear();
        as_good_.push_back(row);
        result_.best = *std::ranges::min_element(as_good_, {}, &SweepRow::index);
    }

    /// Records the score of a plan that is not a duplicate of an earlier one.
    void rank(double score) {
        best_scores_.insert(std::ranges::upper_bound(best_scores_, score, std::ranges::greater{}),
                            score);
        if (best_scores_.size() > ranks_) best_scores_.pop_back();
    }

    bool is_late(const SweepRow& row) const {
        return options_.most_days && row.figure("days") > *options_.most_days;
    }

    bool cannot_win(const Candidate& candidate) const {
        const double within = kRoundingOfBound * std::abs(candidate.promise);
        const bool is_outrun =
            best_scores_.size() == ranks_ && candidate.promise + within < best_scores_.back();
        if (!is_outrun || !is_of_run(objective_)) return is_outrun;
        return std::ranges::any_of(result_.played, [&](const SweepRow& row) {
            const RunPoint played = run_point(row);
            return played.days * (1 + kRoundingOfBound) < candidate.run.days &&
                   played.cost * (1 + kRoundingOfBound) < candidate.run.cost;
        });
    }

    /// A duplicate of the best is never ruled out by its bound, which promises the same score.
    void find_duplicates() {
        if (!result_.best) return;
        std::ranges::copy_if(
            as_good_, std::back_inserter(result_.duplicates), [&](const SweepRow& row) {
                return row.index != result_.best->index && are_duplicates(row, *result_.best);
            });
        std::ranges::sort(result_.duplicates, {}, &SweepRow::index);
    }

    /// Of duplicates the first in the grid stays.
    void sort_played() {
        std::vector<SweepRow>& rows = result_.played;
        std::ranges::sort(rows, {}, &SweepRow::index);
        const auto first_of = duplicates_in(rows);
        std::vector<SweepRow> once;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (!first_of[i]) once.push_back(std::move(rows[i]));
        std::ranges::stable_sort(once, [&](const SweepRow& a, const SweepRow& b) {
            if (is_late(a) != is_late(b)) return is_late(b);
            return score(a, objective_) > score(b, objective_);
        });
        rows = std::move(once);
        result_.late = static_cast<std::size_t>(
            std::ranges::count_if(rows, [&](const SweepRow& row) { return is_late(row); }));
    }

    void record(std::size_t& count) {
        ++count;
        ++decided_;
        if (options_.progress) options_.progress(decided_, result_.points);
    }

    const Grid& grid_;
    std::span<const std::size_t> points_;
    Objective objective_;
    const BatchOptions& options_;
    std::size_t ranks_;
    std::vector<double> best_scores_;  ///< the greatest first, as many as requested
    std::mutex mutex_;
    std::unordered_map<std::size_t, double> promises_;  ///< by index, of points with bounds of
                                                        ///< their own
    SearchResult result_;
    std::vector<SweepRow> as_good_;  ///< rows with the score of the best one
    std::size_t decided_ = 0;
};

}  // namespace

std::vector<std::string> objective_names() {
    std::vector<std::string> names;
    for (const ObjectiveRow& row : kObjectives) names.emplace_back(row.name);
    return names;
}

Objective parse_objective(const std::string& name) {
    const auto* row = std::ranges::find(kObjectives, name, &ObjectiveRow::name);
    if (row != kObjectives.end()) return static_cast<Objective>(row - kObjectives.begin());
    const std::vector<std::string> known = objective_names();
    const auto guess = did_you_mean(name, known);
    throw InputError(fmt::format("unknown objective '{}'; {}", name,
                                 guess ? fmt::format("did you mean '{}'?", *guess)
                                       : fmt::format("known: {}", fmt::join(known, ", "))));
}

bool is_better(const SweepRow& row, const SweepRow* best, Objective objective) {
    return row.fits && (best == nullptr || score(row, objective) > score(*best, objective));
}

const SweepRow* best_of(std::span<const SweepRow> rows, Objective objective) {
    const SweepRow* best = nullptr;
    for (const SweepRow& row : rows)
        if (is_better(row, best, objective)) best = &row;
    return best;
}

SearchResult search(const Grid& grid, Objective objective, const BatchOptions& options,
                    std::size_t ranks) {
    return search(grid, grid.points, objective, options, ranks);
}

SearchResult search(const Grid& grid, std::span<const std::size_t> points, Objective objective,
                    const BatchOptions& options, std::size_t ranks) {
    return Race(grid, points, objective, options, ranks).run();
}

}  // namespace debubble::sim
