#include "sim/choose.h"

#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "scenarios/plan/recompute_choices.h"
#include "sim/plan/plan_bound.h"

namespace debubble::sim {
namespace {

using scenarios::RecomputeChoice;
using scenarios::Scenario;

class Choosing {
public:
    using Play = std::function<PlayedPlan(const Scenario&)>;

    Choosing(const Scenario& scenario, const Play& play, const ChoicesDone& choosing,
             const std::stop_token& stop)
        : scenario_(scenario),
          choices_(scenarios::recompute_choices(scenario)),
          play_(play),
          choosing_(choosing),
          stop_(stop) {}

    std::pair<Scenario, ChosenRecompute> run() {
        // What a rank holds throughout does not depend on the choice, but for cuts that do.
        if (scenario_.parallel.partition != scenarios::Partition::Balanced) {
            const PlanBound any = bound_of(with(scenario_, choices_.front()));
            if (!any.fits()) least_too_much_ = static_cast<double>((any.memory - any.limit).count);
        }
        run_parallel(choices_.size(), 0, nullptr, [&](std::size_t i) {
            give_up_if(stop_);
            if (may_matter(i)) {
                const Scenario one = with(scenario_, choices_[i]);
                // Its prices are kept from here to the play right after, and not for all choices.
                if (least_too_much_ || may_be_best(bound_of(one).step_time_s)) play(i, one);
            }
            count();
        });
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

    /// Where nothing can fit, false for a choice after one that needs no more than all do: of equal
    /// ones the first is taken.
    bool may_matter(std::size_t index) {
        const std::lock_guard lock(mutex_);
        return !least_too_much_ || !smallest_ || index < smallest_->index ||
               smallest_->of > *least_too_much_;
    }

    bool may_be_best(double least_s) {
        const std::lock_guard lock(mutex_);
        return !best_ || least_s * (1 - kRoundingOfBound) <= best_->of;
    }

    void play(std::size_t index, const Scenario& one) {
        const PlayedPlan p = play_(one);
        const std::lock_guard lock(mutex_);
        ++chosen_.played;
        if (p.fits) ++chosen_.fitting;
        const auto keep = [&](std::optional<Played>& least, double of) {
            const Played now{index, of};
            if (!least || now < *least) least = now;
        };
        if (p.fits) keep(best_, p.step_time_s);
        keep(smallest_, -static_cast<double>(p.memory_left.count));
    }

    void count() {
        const std::lock_guard lock(mutex_);
        ++done_;
        if (choosing_) choosing_(done_, choices_.size());
    }

    const Scenario& scenario_;
    std::vector<RecomputeChoice> choices_;
    const Play& play_;
    const ChoicesDone& choosing_;
    const std::stop_token& stop_;
    /// The bytes by which every choice needs more than there is, at least; nothing if some may fit.
    std::optional<double> least_too_much_;
    std::mutex mutex_;
    std::optional<Played> best_;
    std::optional<Played> smallest_;
    ChosenRecompute chosen_;
    std::size_t done_ = 0;
};

}  // namespace

std::string choices_words(std::size_t done, std::size_t all) {
    return fmt::format("recompute auto: {} of {} choices", done, all);
}

std::pair<Scenario, ChosenRecompute> choose_recompute(
    const Scenario& scenario, const std::function<PlayedPlan(const Scenario&)>& play,
    const ChoicesDone& choosing, const std::stop_token& stop) {
    return Choosing(scenario, play, choosing, stop).run();
}

}  // namespace debubble::sim
