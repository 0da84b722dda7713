#include "sim/grid/layout_search.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "models/partition/partition.h"
#include "sim/allocators_later.h"
#include "sim/plan/plan_bound.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;
using Cut = std::vector<int>;  ///< layers by stage

std::vector<models::StageContent> stages_of(const Cut& cut) {
    std::vector<models::StageContent> stages;
    int first = 0;
    for (const int layers : cut) {
        stages.push_back({first, layers, stages.empty(), stages.size() + 1 == cut.size()});
        first += layers;
    }
    return stages;
}

/// The number of cuts, as far as it is not above the limit.
std::size_t cuts_up_to(std::size_t limit, int layers, int stages) {
    std::size_t count = 1;  // layers + stages - 1 over stages - 1
    for (int i = 1; i < stages; ++i) {
        count = count * static_cast<std::size_t>(layers + i) / static_cast<std::size_t>(i);
        if (count > limit) return limit + 1;
    }
    return count;
}

void for_each_cut(Cut& cut, std::size_t stage, int left, const auto& visit) {
    if (stage + 1 == cut.size()) {
        cut[stage] = left;
        visit(cut);
        return;
    }
    for (int layers = 0; layers <= left; ++layers) {
        cut[stage] = layers;
        for_each_cut(cut, stage + 1, left - layers, visit);
    }
}

/// What is smaller is better, the first number first.
using Rating = std::tuple<bool, double, double>;
using Rate = Rating(const Prediction&);

double too_much(const Prediction& p) {
    return -static_cast<double>(p.memory_left.count);
}
Rating by_step(const Prediction& p) {
    return {false, p.step_time_s, too_much(p)};
}
Rating by_memory(const Prediction& p) {
    return {false, too_much(p), p.step_time_s};
}
/// Plans that fit by their steps; others by what is too much, so that moves lead to some that fit.
Rating by_fit(const Prediction& p) {
    return p.fits ? Rating{false, p.step_time_s, 0} : Rating{true, too_much(p), p.step_time_s};
}

class Layouts {
public:
    Layouts(const Scenario& scenario, int jobs, const LayoutProgress& progress)
        : scenario_(scenario),
          jobs_(jobs),
          progress_(progress),
          stages_(scenario.pipeline_shape().stages()) {}

    LayoutSearch run() {
        if (stages_ == 1 || stages_ > kMostStagesSearched)
            throw InputError(fmt::format("layouts are searched for 2 to {} stages, and there {} {}",
                                         kMostStagesSearched, stages_ == 1 ? "is" : "are",
                                         stages_));
        if (scenario_.model.layers.count() >= stages_) {
            keep("uniform", with(scenarios::Partition::Uniform));
            keep("balanced", with(scenarios::Partition::Balanced));
        }
        const int layers = scenario_.model.layers.count();
        search_.all = cuts_up_to(kMostCutsPlayed, layers, stages_) <= kMostCutsPlayed;
        std::vector<Cut> cuts;
        if (search_.all || search_.rows.empty()) {
            Cut cut(stages_);
            if (search_.all)
                for_each_cut(cut, 0, layers, [&](const Cut& one) { cuts.push_back(one); });
            else  // fewer layers than stages: the first stages have one each
                for (int i = 0; i < layers; ++i) ++cut[i % stages_];
            if (cuts.empty()) cuts.push_back(cut);
            play(cuts);
        }
        if (!search_.all) improve();
        search_.fits = known_.at(best(by_fit))->fits;
        if (search_.fits) {
            keep("best", best(by_fit));
        } else {
            keep("fastest", best(by_step));
            keep("smallest", best(by_memory));
        }
        search_.tried = known_.size();
        return std::move(search_);
    }

private:
    /// The cut of the partition, played.
    Cut with(scenarios::Partition partition) {
        Scenario one = scenario_;
        one.parallel.partition = partition;
        one.parallel.prediction_stage.reset();
        Cut cut;
        if (partition == scenarios::Partition::Balanced)
            cut = predicted(one).cut->layers_per_stage;
        else
            for (const models::StageContent& stage : scenarios::partition_of(one, stages_))
                cut.push_back(stage.layers);
        play({cut}, Extent::Whole);
        return cut;
    }
    void keep(const char* name, const Cut& cut) {
        search_.rows.push_back({name, cut,
                                models::layout_of(stages_of(cut), scenario_.model.mtp_layers),
                                *known_.at(cut)});
    }

    /// What is shown of a cut is played whole, others as far as they can be the best.
    enum class Extent : std::uint8_t { Whole, AsItCounts };
    void play(const std::vector<Cut>& cuts, Extent extent = Extent::AsItCounts) {
        std::vector<Cut> fresh;
        for (const Cut& cut : cuts)
            if (!known_.contains(cut)) fresh.push_back(cut);
        std::vector<std::optional<Prediction>> played(fresh.size());
        const std::vector<Bounded> in_turn = by_bound(fresh, extent);
        std::atomic<std::size_t> done{0};
        run_parallel(fresh.size(), jobs_, nullptr, [&](std::size_t turn) {
            const auto [least_s, i] = in_turn[turn];
            const Scenario one = cut_as(fresh[i]);
            played[i] =
                extent == Extent::Whole ? predicted(one) : played_as_it_counts(one, least_s);
            if (played[i]) note(*played[i]);
            if (progress_.tried) progress_.tried(known_.size() + ++done);
        });
        for (std::size_t i = 0; i < fresh.size(); ++i) known_.emplace(fresh[i], played[i]);
    }
    Scenario cut_as(const Cut& cut) const {
        Scenario one = scenario_;
        one.parallel.partition = scenarios::Partition::Explicit;
        one.parallel.layers_per_stage = cut;
        one.parallel.prediction_stage.reset();
        return one;
    }
    /// No step of the cut is shorter, in seconds; and which cut.
    using Bounded = std::pair<double, std::size_t>;
    /// The cuts in the order in which they are played: those that may be the best first, so that
    /// they rule out others. Where no bound is of use they keep their order.
    std::vector<Bounded> by_bound(const std::vector<Cut>& cuts, Extent extent) const {
        std::vector<Bounded> bounded(cuts.size());
        const bool bounds = extent == Extent::AsItCounts && !scenario_.training.chooses_recompute;
        run_parallel(cuts.size(), jobs_, nullptr, [&](std::size_t i) {
            const double least_s =
                bounds ? bound_of(cut_as(cuts[i])).step_time_s * (1 - kRoundingOfBound) : 0;
            bounded[i] = {least_s, i};
        });
        std::ranges::sort(bounded);
        return bounded;
    }

    PredictOptions figures() const {
        return {.keep_trace = false,
                .draw_loads = false,
                .explain = false,
                .only_where_it_decides = true,
                .plan_run = false,
                .choosing = progress_.choosing};
    }
    Prediction predicted(const Scenario& one) const { return predict(one, figures()).prediction; }

    /// A plan that is slower than one that fits is never the best: it is not played if its bound
    /// says so, nor are its allocators if its step does. Where nothing fits, all are.
    std::optional<Prediction> played_as_it_counts(const Scenario& one, double least_s) {
        if (least_s > fitting_step_s_.load()) return std::nullopt;
        PredictOptions how = figures();
        // To choose a recomputation they are played anyway.
        how.play_allocator = one.training.chooses_recompute;
        how.allocators_later = !how.play_allocator;
        PredictionWithTrace result = predict(one, how);
        Prediction& out = result.prediction;
        if (result.to_allocate && out.step_time_s <= fitting_step_s_.load())
            play_allocators(out, *result.to_allocate, true, {});
        return out;
    }
    void note(const Prediction& played) {
        double least = fitting_step_s_.load();
        while (played.fits && played.step_time_s < least &&
               !fitting_step_s_.compare_exchange_weak(least, played.step_time_s)) {
        }
    }

    /// Of equal ones the first in the order of the numbers.
    Cut best(Rate rating) const {
        const Cut* best = nullptr;
        std::optional<Rating> least;
        for (const auto& [cut, prediction] : known_) {
            if (!prediction) continue;
            const Rating rated = rating(*prediction);
            if (least && *least <= rated) continue;
            least = rated;
            best = &cut;
        }
        return *best;
    }
    /// Makes moves until none is better; where nothing fits, also from the fastest on, on which way
    /// some may fit after all.
    void improve() {
        for (;;) {
            while (move_from_best(by_fit)) {
            }
            if (known_.at(best(by_fit))->fits) return;
            while (move_from_best(by_step)) {
            }
            if (!known_.at(best(by_fit))->fits) return;
        }
    }
    /// Plays all moves of one layer; false if none is better.
    bool move_from_best(Rate rating) {
        const Cut from = best(rating);
        std::vector<Cut> moves;
        for (std::size_t i = 0; i < from.size(); ++i)
            for (std::size_t j = 0; j < from.size(); ++j) {
                if (i == j || from[i] == 0) continue;
                moves.push_back(from);
                --moves.back()[i];
                ++moves.back()[j];
            }
        const auto before = rating(*known_.at(from));
        play(moves);
        return rating(*known_.at(best(rating))) < before;
    }

    const Scenario& scenario_;
    int jobs_;
    const LayoutProgress& progress_;
    int stages_;
    /// Of each cut that was tried; nothing where another one that fits is known to be faster.
    std::map<Cut, std::optional<Prediction>> known_;
    /// The shortest step of those that are known to fit.
    std::atomic<double> fitting_step_s_{std::numeric_limits<double>::infinity()};
    LayoutSearch search_;
};

}  // namespace

LayoutSearch search_layouts(const Scenario& scenario, int jobs, const LayoutProgress& progress) {
    return Layouts(scenario, jobs, progress).run();
}

}  // namespace debubble::sim
