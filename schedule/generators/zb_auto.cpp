#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "schedule/generators/generator.h"
#include "schedule/generators/search/plan_search.h"
#include "schedule/generators/shape_needs.h"

/// ZB-auto (Qi et al., 2023, arXiv:2401.10241, section 3): the order that suits
/// the measured F, I, W and link under a memory limit. The paper's heuristics
/// (how far to warm up, whether to fill a short wait with W or to wait) are
/// tried over a grid, ZB-H1 and ZB-H2 among them, and the best is improved rank
/// by rank. The limit is one for all ranks or one for each, since ranks whose stages hold more per
/// layer, or more parameters, afford fewer. Without a limit a rank may hold 2p microbatches: more
/// gain nothing. With `mem_b`, as in the authors' scheduler (sail-sg/zero-bubble, zb.py, whose
/// mem_f is 1 here), a backward-input frees a part of what its forward left, so that more W can
/// wait.
///
///   rank 0  0F0 0F1 0F2 0F3 0I0 0W0 0I1 0W1 0I2 0W2 0I3 0W3
///   rank 1  1F0 1F1 1F2 1I0 1F3 1I1 1W0 1I2 1W1 1I3 1W2 1W3
///   rank 2  2F0 2I0 2F1 2I1 2F2 2I2 2F3 2I3 2W0 2W1 2W2 2W3
namespace debubble {
namespace {

/// Some 30 ms.
constexpr std::int64_t kBudget = 1'200'000;
/// Where a backward-input frees something more orders keep within the limit: some 0.1 s.
constexpr std::int64_t kBudgetInParts = 5'000'000;

/// One order to try: how far each rank runs ahead, and what decides afterwards.
struct Heuristic {
    enum class Kind {
        Turns,    ///< ZB-H1's order: F and I in turn, each W a fixed number of turns late
        Filled,   ///< F and I in turn, W where they fit
        Greedy,   ///< whatever is ready; `lead` limits what is alive
        Drained,  ///< the same as Greedy, backward first
    };
    Kind kind = Kind::Turns;
    std::vector<int> lead;  ///< per rank: forwards before the first backward
    int percent = 100;
    std::optional<Duration> idle_allowance = {};
};

StepOrder alternation(int micro_batches, int lead) {
    StepOrder order(lead, Step{Pass::Forward, 0});
    for (int i = 0; i < micro_batches; ++i) {
        order.push_back({Pass::BackwardInput, 0});
        if (lead + i < micro_batches) order.push_back({Pass::Forward, 0});
    }
    return order;
}

/// The order with as many delayed W as the limit leaves room for.
StepOrder with_delayed_weights(const StepOrder& order, int delay) {
    StepOrder all;
    int backwards = 0;
    for (const Step& step : order) {
        all.push_back(step);
        if (step.pass == Pass::BackwardInput && ++backwards > delay)
            all.push_back({Pass::BackwardWeight, 0});
    }
    all.insert(all.end(), std::min(delay, backwards), {Pass::BackwardWeight, 0});
    return all;
}

class AutoSearch {
public:
    explicit AutoSearch(const OrderProblem& problem)
        : problem_(problem), search_(problem, problem.parts > 1 ? kBudgetInParts : kBudget) {}

    OrderPlan run() {
        for (const double slope : {1.0, 2.0, 1.5, 0.5, 1.25, 1.75, 2.5, 3.0, 0.0})
            for (const int step : {0, 1}) try_slope(slope, step);
        while (!search_.spent() && improve_leads()) {
        }
        improve_order(search_);
        return search_.best();
    }

private:
    using Kind = Heuristic::Kind;

    bool consider(const Heuristic& heuristic) {
        ListPolicy policy{.weight_fits_percent = heuristic.percent,
                          .idle_allowance = heuristic.idle_allowance};
        std::vector<StepOrder> order;
        if (heuristic.kind == Kind::Greedy || heuristic.kind == Kind::Drained) {
            policy.choice = heuristic.kind == Kind::Greedy ? ListPolicy::Choice::Alternate
                                                           : ListPolicy::Choice::BackwardFirst;
            if (!heuristic.lead.empty()) policy.live_limits.emplace();
            for (std::size_t r = 0; r < heuristic.lead.size(); ++r)
                policy.live_limits->push_back(parts_of(heuristic.lead[r] + static_cast<int>(r)));
        } else {
            for (int rank = 0; rank < problem_.shape.ranks; ++rank) {
                const int lead = heuristic.lead[rank];
                order.push_back(alternation(problem_.shape.micro_batches, lead));
                if (heuristic.kind == Kind::Turns)
                    order.back() = with_delayed_weights(order.back(), most_delay(rank, lead));
            }
            policy.choice = ListPolicy::Choice::Fixed;
            policy.order = &order;
        }
        const bool better =
            heuristic.kind == Kind::Turns ? search_.consider(order) : search_.consider(policy);
        if (!better) return false;
        best_ = heuristic;
        return true;
    }

    int most_lead(int rank) const {
        return std::min(problem_.live_limit(rank) / problem_.parts, problem_.shape.micro_batches);
    }
    /// The W that can wait beside so many forwards.
    int most_delay(int rank, int lead) const {
        const int room = problem_.live_limit(rank) - lead * problem_.parts;
        const int waiting = -problem_.change_of(rank, Pass::BackwardWeight);
        return waiting == 0 ? problem_.shape.micro_batches : room / waiting;
    }
    int parts_of(int micro_batches) const {
        return std::min(micro_batches, std::numeric_limits<int>::max() / problem_.parts) *
               problem_.parts;
    }

    /// Tries every kind with rank r running `slope` forwards ahead of rank r+1, and `step` forwards
    /// where the limit is reached.
    void try_slope(double slope, int step) {
        Heuristic heuristic;
        for (int rank = 0; rank < problem_.shape.ranks; ++rank) {
            const double lead = slope * (problem_.shape.ranks - 1 - rank) + 1;
            const int most = std::max(most_lead(rank) - step * rank, 1);
            heuristic.lead.push_back(static_cast<int>(std::min<double>(lead, most)));
        }
        if (heuristic.lead == tried_) return;
        tried_ = heuristic.lead;
        consider(heuristic);
        for (const Kind kind : {Kind::Filled, Kind::Greedy, Kind::Drained}) {
            heuristic.kind = kind;
            heuristic.idle_allowance.reset();
            for (const int percent : {100, 50, 0}) {
                heuristic.percent = percent;
                consider(heuristic);
            }
            for (const int share : {0, 50, 90}) {
                heuristic.idle_allowance = search_.most_idle() * share / 100;
                consider(heuristic);
            }
        }
    }

    /// Moves the lead of one rank, or of all ranks up to one, by one forward.
    bool improve_leads() {
        bool improved = false;
        for (int rank = 0; rank < problem_.shape.ranks; ++rank) {
            for (const int change : {1, -1}) {
                for (const int from : {rank, 0}) {
                    Heuristic moved = best_;
                    for (int r = from; r <= rank; ++r)
                        moved.lead[r] = std::clamp(moved.lead[r] + change, 1, most_lead(r));
                    if (moved.lead != best_.lead) improved |= consider(moved);
                }
            }
        }
        return improved;
    }

    const OrderProblem& problem_;
    PlanSearch search_;
    Heuristic best_;
    std::vector<int> tried_;
};

std::vector<double> memory_limits(const PipelineShape& shape, const GeneratorOptions& options) {
    if (options.memory_limits.empty()) return {2.0 * shape.ranks};
    return options.memory_limits;
}

/// What a backward-input frees of its microbatch: a share for all ranks or for each, or what is
/// wrong with `mem_b`.
struct FreedByInput {
    std::vector<double> shares;
    Reason reason = {};
};

FreedByInput freed_by_input(const GeneratorOptions& options) {
    const auto found = options.values.find("mem_b");
    if (found == options.values.end()) return {};
    FreedByInput freed;
    const char* next = found->second.data();
    const char* const end = next + found->second.size();
    for (;; ++next) {
        double change = 0;
        const auto [stop, error] = std::from_chars(next, end, change);
        if (error != std::errc{} || !(change >= -1 && change <= 0) || (stop != end && *stop != ','))
            return {{},
                    fmt::format("mem_b must be a number from -1 to 0, or one for each rank with "
                                "commas between them, not '{}'",
                                found->second)};
        freed.shares.push_back(-change);
        next = stop;
        if (next == end) return freed;
    }
}

constexpr GeneratorOption kZbAutoOptions[] = {
    kObjective[0],
    {"mem_b",
     "what a backward-input adds to its microbatch's live activations, as -0.5 where it frees "
     "half; "
     "one number, or one for each rank as -0.5,-0.4; in a scenario also graph, what the ranks' "
     "stages free"}};

Reason why_not_zb_auto(const PipelineShape& shape, const GeneratorOptions& options) {
    if (Reason reason = shape_reason(shape, {.stages_per_rank = 1})) return reason;
    if (Reason reason = costs_reason(shape, options.costs)) return reason;
    if (Reason reason = objective_reason(options)) return reason;
    const auto [shares, reason] = freed_by_input(options);
    if (reason) return reason;
    if (shares.size() > 1 && std::ssize(shares) != shape.ranks)
        return fmt::format("mem_b has numbers for {} ranks, and there are {}", shares.size(),
                           shape.ranks);
    const std::vector<double> limits = memory_limits(shape, options);
    if (limits.size() != 1 && std::ssize(limits) != shape.ranks)
        return fmt::format("there are memory limits for {} ranks, and {} ranks", limits.size(),
                           shape.ranks);
    for (const double limit : limits)
        if (!(limit >= 1))
            return fmt::format("a rank holds at least one microbatch, and the memory limit is {}",
                               limit);
    return std::nullopt;
}

Schedule zb_auto(const PipelineShape& shape, const GeneratorOptions& options) {
    OrderProblem problem{shape, options.costs, true, {}, wants_span(options)};
    const std::vector<double> shares = freed_by_input(options).shares;
    if (!shares.empty()) {
        // Parts are whole numbers, and so are the sums of those of all microbatches.
        problem.parts =
            std::min(10'000, std::numeric_limits<int>::max() / (shape.micro_batches + 1));
        problem.freed_by_input.clear();
        for (const double share : shares)
            problem.freed_by_input.push_back(static_cast<int>(share * problem.parts));
    }
    problem.live_limits.clear();
    for (const double limit : memory_limits(shape, options))
        problem.live_limits.push_back(
            static_cast<int>(std::min<double>(limit, shape.micro_batches) * problem.parts));
    return to_schedule("zb-auto", problem, AutoSearch(problem).run());
}

}  // namespace

Generator zb_auto_row() {
    return {.name = "zb-auto",
            .summary = "zero bubble by search, under --memory-limit and for measured costs",
            .source = "arXiv:2401.10241",
            .make = zb_auto,
            .why_not = why_not_zb_auto,
            .splits_backward = true,
            .stages_per_rank = 1,
            .uses_costs = true,
            .placement = [](const PipelineShape& shape) { return loop_placement(shape.ranks, 1); },
            .options = kZbAutoOptions,
            .takes_memory_limit = true};
}

}  // namespace debubble
