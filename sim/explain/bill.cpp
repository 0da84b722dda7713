#include "sim/explain/bill.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/overloaded.h"
#include "sim/explain/communication.h"
#include "sim/explain/relieved_costs.h"

namespace debubble::sim {
namespace {

/// Times of all ranks together.
struct Account {
    Duration busy{};
    Duration exposed{};
    Duration optimizer{};
    Duration launching{};  ///< by hosts, part of `busy`
    IdleByCause idle{};
    Duration of(BubbleCause cause) const { return idle[cause]; }
};

/// What hosts add to the passes of a step.
Duration launching_in(const Program& program, const CostModel& costs) {
    using Key = std::tuple<int, int, Stage, Stage, int>;
    const bool each = costs.per_micro_batch();
    std::map<Key, Duration> known;
    Duration sum{};
    for (int r = 0; r < program.shape.ranks; ++r) {
        const Rank rank{r};
        const auto add = [&](int kind, Stage stage, Stage other, const MicroBatch& mb,
                             auto&& host_of) {
            const int slice =
                each ? mb.index * std::max(1, program.shape.slices) + mb.slice.value_or(0)
                     : mb.slice.value_or(0);
            const auto [found, is_new] = known.try_emplace(Key{r, kind, stage, other, slice});
            if (is_new) found->second = host_of();
            sum += found->second;
        };
        for (const Action& action : program.ranks[r])
            std::visit(Overloaded{
                           [&](const Compute& c) {
                               add(static_cast<int>(c.pass), c.stage, c.stage, c.micro_batch,
                                   [&] { return costs.compute(c, rank).host; });
                           },
                           [&](const Recompute& again) {
                               add(4, again.stage, again.stage, again.micro_batch,
                                   [&] { return costs.recompute(again, rank).host; });
                           },
                           [&](const Overlap& both) {
                               add(5 + static_cast<int>(both.second.pass), both.first.stage,
                                   both.second.stage, both.first.micro_batch,
                                   [&] { return costs.overlap(both, rank).host; });
                           },
                           [](const auto&) {},
                       },
                       action);
    }
    return sum;
}

Account account_of(const Statistics& statistics, const Program& program, const CostModel& costs) {
    Account sums;
    for (const RankStatistics& rank : statistics.ranks) {
        sums.busy += rank.busy;
        sums.exposed += rank.exposed;
        sums.optimizer += rank.optimizer;
    }
    sums.idle = idle_by_cause(statistics);
    sums.launching = std::min(sums.busy, launching_in(program, costs));
    return sums;
}

std::string key_of(CommunicationKind kind) {
    return fmt::format("exposed_{}", name_of(kind));
}

/// Collects parts as times of all ranks together, and divides them among the ranks at the end so
/// that they add up.
class BillWriter {
public:
    BillWriter(Duration step, std::size_t ranks) : step_(step), ranks_(ranks) {}

    /// A part of no time is left out.
    void add(std::string key, std::string words, Duration all, std::optional<Duration> if_free = {},
             std::string freed = {}, std::optional<BubbleCause> idle = {}) {
        if (all == Duration{}) return;
        parts_.push_back({std::move(key), std::move(words), all, if_free, std::move(freed), idle});
        sum_ += all;
    }
    Duration missing() const { return step_ * static_cast<Duration::rep>(ranks_) - sum_; }
    Bill done() {
        DEBUBBLE_CHECK(missing() == Duration{}, "the parts of a bill add up to the step");
        Duration before{};
        Duration given{};
        for (BillPart& part : parts_) {
            before += part.takes;
            const Duration until{std::llround(static_cast<long double>(before.count()) /
                                              static_cast<long double>(ranks_))};
            part.takes = until - given;
            given = until;
        }
        return {step_, std::move(parts_)};
    }

private:
    Duration step_;
    std::size_t ranks_;
    std::vector<BillPart> parts_;
    Duration sum_{};
};

/// Makes a bill, part by part.
class Billing {
public:
    explicit Billing(const BillRequest& request)
        : request_(request),
          now_(account_of(request.statistics, request.program, request.costs)),
          ranks_(request.statistics.ranks.size()),
          writer_(request.statistics.step, ranks_) {}

    Bill make() {
        computing();
        communication();
        writer_.add("optimizer", "optimizer step", now_.optimizer,
                    step_with(Relief{.optimizer = true}), "the optimizer's steps take no time");
        waits();
        return writer_.done();
    }

private:
    Duration step_with(const Relief& relief) const {
        return request_.play(RelievedCosts(request_.costs, relief)).step;
    }

    /// What is busy: the ideal, kernels that are slower, recompute, and the host.
    void computing() {
        Duration again{};
        Duration launching = now_.launching;
        std::optional<Duration> without;
        if (request_.without_recompute != nullptr) {
            const OtherPasses costs(request_.costs, *request_.without_recompute);
            const PlayedStep played = request_.play(costs);
            const Account less = account_of(played.statistics, request_.program, costs);
            again = std::max(now_.busy - less.busy, Duration{});
            launching = less.launching;
            without = played.step;
        }
        const Duration once = now_.busy - again - launching;
        const std::optional<double> used = request_.prediction.mfu_causal;
        if (!used) {
            writer_.add("kernels", "compute (the peak rate is not known)", once);
        } else {
            const Duration ideal = from_seconds(*used * request_.prediction.mean_step_s() *
                                                static_cast<double>(ranks_));
            writer_.add("ideal", "model FLOPs at the peak rate", ideal);
            const Duration kernels = now_.busy - now_.launching;
            const double share = 1 - seconds(once - ideal) / std::max(seconds(kernels), 1e-12);
            writer_.add("kernels", "kernels below the peak rate", once - ideal,
                        step_with(Relief{.kernels = share}),
                        "all kernels run the model's FLOPs at the peak rate");
        }
        writer_.add("recompute", "recompute", again, without, "nothing is computed again");
        const Duration late = launching + now_.of(BubbleCause::Launch);
        if (late > Duration{})
            writer_.add("host", "host: launches, and time between steps", late,
                        step_with(Relief{.host = true}), "hosts launch and prepare in no time",
                        BubbleCause::Launch);
    }

    void communication() {
        DurationByKind sums{};
        for (std::size_t i = 0; i < ranks_; ++i) {
            const DurationByKind parts = whole_parts(request_.prediction.ranks[i].communication,
                                                     request_.statistics.ranks[i].exposed);
            for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += parts[k];
        }
        const Duration known = std::accumulate(sums.begin(), sums.end(), Duration{});
        sums[CommunicationKind::Data] += now_.exposed - known;
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const auto kind = static_cast<CommunicationKind>(k);
            const bool pipeline = kind == CommunicationKind::Pipeline;
            if (pipeline) sums[k] += now_.of(BubbleCause::Link);
            if (sums[k] == Duration{}) continue;
            Relief relief;
            relief.communication[k] = true;
            writer_.add(key_of(kind),
                        pipeline ? "pipeline messages on their way"
                                 : fmt::format("exposed: {}", words_of(kind)),
                        sums[k], step_with(relief),
                        fmt::format("{} communication takes no time", words_of(kind)),
                        pipeline ? std::optional(BubbleCause::Link) : std::nullopt);
        }
    }

    /// The idle time that is a wait for other ranks: that of even stages by its causes, and before
    /// it what uneven stages add to it.
    void waits() {
        constexpr std::array kWaits{BubbleCause::WarmUp, BubbleCause::CoolDown,
                                    BubbleCause::OtherStage, BubbleCause::Collective,
                                    BubbleCause::Optimizer};
        const auto waits_of = [&](const Account& account) {
            Duration sum{};
            for (const BubbleCause cause : kWaits) sum += account.of(cause);
            return sum;
        };
        Account even = now_;
        if (request_.program.placement.stage_count() > 1) {
            const LevelledCosts costs(request_.costs, request_.program);
            const PlayedStep played = request_.play(costs);
            const Account levelled = account_of(played.statistics, request_.program, costs);
            if (const Duration more = waits_of(now_) - waits_of(levelled); more > Duration{}) {
                writer_.add("uneven_stages", "uneven stages", more, played.step,
                            "every stage takes the mean of all");
                even = levelled;
            }
        }
        const std::string together = "each rank begins its next step at once";
        const Duration overlapped =
            longest_without({BubbleCause::WarmUp, BubbleCause::CoolDown, BubbleCause::Optimizer});
        writer_.add("warm_up", "warm-up", even.of(BubbleCause::WarmUp), overlapped, together,
                    BubbleCause::WarmUp);
        writer_.add("cool_down", "cool-down", even.of(BubbleCause::CoolDown), overlapped, together,
                    BubbleCause::CoolDown);
        writer_.add("stage", "waits for a stage", even.of(BubbleCause::OtherStage),
                    longest_without({BubbleCause::WarmUp, BubbleCause::CoolDown,
                                     BubbleCause::Optimizer, BubbleCause::OtherStage,
                                     BubbleCause::Collective, BubbleCause::UnevenLoad}),
                    "no rank ever waits for another", BubbleCause::OtherStage);
        writer_.add("collective", "waits for a group", even.of(BubbleCause::Collective), {}, {},
                    BubbleCause::Collective);
        if (const Duration uneven = now_.of(BubbleCause::UnevenLoad); uneven > Duration{})
            writer_.add("uneven_load", "uneven loads", uneven,
                        request_.of_even_loads == nullptr
                            ? std::nullopt
                            : std::optional(request_.play(*request_.of_even_loads).step),
                        "all loads are even", BubbleCause::UnevenLoad);
        writer_.add("optimizer_barrier", "optimizer barrier", writer_.missing(), overlapped,
                    together, BubbleCause::Optimizer);
    }

    /// The longest of the ranks' steps without their idle time of these causes.
    Duration longest_without(std::initializer_list<BubbleCause> causes) const {
        Duration longest{};
        for (const RankStatistics& rank : request_.statistics.ranks) {
            Duration own = request_.statistics.step;
            for (const BubbleCause cause : causes) own -= rank.idle_by_cause[cause];
            longest = std::max(longest, own);
        }
        return longest;
    }

    const BillRequest& request_;
    Account now_;
    std::size_t ranks_;
    BillWriter writer_;
};

}  // namespace

Bill bill_of(const BillRequest& request) {
    return Billing(request).make();
}

}  // namespace debubble::sim
