#include "sim/choose_recompute.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "base/cancelled.h"
#include "scenarios/recompute_choices.h"
#include "sim/grid/parallel.h"
#include "sim/plan_bound.h"

namespace debubble::sim {
namespace {

using scenarios::RecomputeChoice;
using scenarios::Scenario;

/// A bound and a prediction add the same numbers in another order.
constexpr double kRounding = 1e-9;

struct Candidate {
    std::size_t index = 0;
    double least_s = 0;  ///< no step of it is shorter
};

class Choosing {
public:
    using Play = std::function<PlayedPlan(const Scenario&)>;

    Choosing(const Scenario& scenario, const Play& play, const std::stop_token& stop)
        : scenario_(scenario),
          choices_(scenarios::recompute_choices(scenario)),
          play_(play),
          stop_(stop) {}

    std::pair<Scenario, ChosenRecompute> run() {
        std::vector<Candidate> candidates(choices_.size());
        run_parallel(choices_.size(), 0, nullptr, [&](std::size_t i) {
            give_up_if(stop_);
            candidates[i] = {i, bound_of(with(scenario_, choices_[i])).step_time_s};
        });
        std::ranges::stable_sort(candidates, {}, &Candidate::least_s);
        run_parallel(candidates.size(), 0, nullptr, [&](std::size_t i) { play(candidates[i]); });
        chosen_.choices = choices_.size();
        Scenario best = with(scenario_, choices_[best_ ? best_->index : smallest_->index]);
        chosen_.words = scenarios::recompute_text(best.training);
        if (scenario_.training.chooses_offload)
            chosen_.words += "; offload " + scenarios::offload_text(best.training);
        return {std::move(best), std::move(chosen_)};
    }

private:
    struct Played {
        std::size_t index = 0;
        double of = 0;  ///< step time in seconds, or the memory that is left, negated
        friend auto operator<=>(const Played& a, const Played& b) {
            return std::pair(a.of, a.index) <=> std::pair(b.of, b.index);
        }
    };

    void play(const Candidate& candidate) {
        {
            const std::lock_guard lock(mutex_);
            if (best_ && candidate.least_s * (1 - kRounding) > best_->of) return;
        }
        const PlayedPlan p = play_(with(scenario_, choices_[candidate.index]));
        const std::lock_guard lock(mutex_);
        ++chosen_.played;
        if (p.fits) ++chosen_.fitting;
        const auto keep = [&](std::optional<Played>& least, double of) {
            const Played now{candidate.index, of};
            if (!least || now < *least) least = now;
        };
        if (p.fits) keep(best_, p.step_time_s);
        keep(smallest_, -static_cast<double>(p.memory_left.count));
    }

    const Scenario& scenario_;
    std::vector<RecomputeChoice> choices_;
    const Play& play_;
    const std::stop_token& stop_;
    std::mutex mutex_;
    std::optional<Played> best_;
    std::optional<Played> smallest_;
    ChosenRecompute chosen_;
};

}  // namespace

std::pair<Scenario, ChosenRecompute> choose_recompute(
    const Scenario& scenario, const std::function<PlayedPlan(const Scenario&)>& play,
    const std::stop_token& stop) {
    return Choosing(scenario, play, stop).run();
}

}  // namespace debubble::sim
