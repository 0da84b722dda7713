#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "schedule/replay/replay.h"
#include "schedule/validate.h"

/// What no order can beat, found by trying every order of small pipelines.
namespace debubble {
namespace {

/// How far each rank is, F = I = W = 1 (or B = 2) and free links. Microbatches are alike, so their
/// order does not matter, only how many each rank has done.
struct RankState {
    int forwards = 0;
    int inputs = 0;
    int weights = 0;
    bool in_backward = false;  ///< in the second half of a B
    friend auto operator<=>(const RankState&, const RankState&) = default;
};
using State = std::vector<RankState>;

struct Search {
    int ranks;
    int micro_batches;
    int most_live;  ///< microbatches that a rank may hold until W
    bool split_backward;
    bool idle_allowed;  ///< after a rank's first forward and before its last backward
};

/// The states of rank `r` one unit of time after `now`, whatever it chooses to do.
std::vector<RankState> choices(const Search& search, const State& now, int r) {
    const RankState& rank = now[r];
    std::vector<RankState> next;
    const auto add = [&](auto change) {
        next.push_back(rank);
        change(next.back());
    };
    if (rank.in_backward) {
        add([](RankState& s) { s = {s.forwards, s.inputs + 1, s.weights + 1, false}; });
        return next;
    }
    const bool fed =
        r == 0 ? rank.forwards < search.micro_batches : now[r - 1].forwards > rank.forwards;
    if (fed && rank.forwards - rank.weights < search.most_live)
        add([](RankState& s) { ++s.forwards; });
    const int ready = r + 1 == search.ranks ? rank.forwards : now[r + 1].inputs;
    if (rank.inputs < std::min(ready, rank.forwards)) {
        if (search.split_backward)
            add([](RankState& s) { ++s.inputs; });
        else
            add([](RankState& s) { s.in_backward = true; });
    }
    if (search.split_backward && rank.weights < rank.inputs) add([](RankState& s) { ++s.weights; });
    const bool idle = rank.forwards == 0 || rank.weights == search.micro_batches;
    if (search.idle_allowed || idle) next.push_back(rank);
    return next;
}

void expand(const Search& search, const State& now, State& next, int r, std::set<State>& out) {
    if (r == search.ranks) {
        out.insert(next);
        return;
    }
    for (const RankState& choice : choices(search, now, r)) {
        next[r] = choice;
        expand(search, now, next, r + 1, out);
    }
}

/// The shortest makespan of all orders; nothing if no order ends.
std::optional<int> shortest_makespan(const Search& search) {
    std::set<State> states{State(search.ranks)};
    const RankState done{search.micro_batches, search.micro_batches, search.micro_batches};
    const int longest = 3 * search.micro_batches * search.ranks + search.ranks;
    for (int time = 0; time <= longest; ++time) {
        std::set<State> next;
        for (const State& state : states) {
            if (std::ranges::all_of(state, [&](const RankState& r) { return r == done; }))
                return time;
            State scratch = state;
            expand(search, state, scratch, 0, next);
        }
        states = std::move(next);
    }
    return std::nullopt;
}

struct Size {
    int ranks, micro_batches;
};
constexpr Size kSizes[] = {{2, 2}, {2, 4}, {2, 5}, {3, 3}, {3, 4}};

int makespan(const char* name, const Size& size) {
    const Schedule schedule = generate(name, {size.ranks, 1, size.micro_batches});
    return static_cast<int>(replay(schedule, unit_costs(Duration{1})).makespan.count());
}

TEST(ExhaustiveSearch, NoOrderBeatsOneFOneBNorEqualsItWithLessMemory) {
    for (const auto& [p, m] : kSizes) {
        const int best = makespan("1f1b", {p, m});
        EXPECT_EQ(shortest_makespan({p, m, p, false, true}), best) << p << ' ' << m;
        EXPECT_EQ(shortest_makespan({p, m, m, false, true}), best) << p << ' ' << m;
        EXPECT_GT(shortest_makespan({p, m, p - 1, false, true}), best) << p << ' ' << m;
    }
}

TEST(ExhaustiveSearch, NoOrderBeatsZbH1NorEqualsItWithLessMemory) {
    for (const auto& [p, m] : kSizes) {
        const int best = makespan("zb-h1", {p, m});
        EXPECT_EQ(shortest_makespan({p, m, p, true, true}), best) << p << ' ' << m;
        EXPECT_EQ(shortest_makespan({p, m, m, true, true}), best) << p << ' ' << m;
        EXPECT_GT(shortest_makespan({p, m, p - 1, true, true}), best) << p << ' ' << m;
    }
}

TEST(ExhaustiveSearch, ZeroSpanBubbleTakesTheMemoryOfZbH2) {
    for (const auto& [p, m] : {Size{2, 3}, Size{2, 4}, Size{2, 6}, Size{3, 5}, Size{3, 6}}) {
        const Schedule schedule = generate("zb-h2", {p, 1, m});
        EXPECT_EQ(replay(schedule, unit_costs()).span_bubble, 0);
        EXPECT_TRUE(shortest_makespan({p, m, 2 * p - 1, true, false})) << p << ' ' << m;
        EXPECT_FALSE(shortest_makespan({p, m, 2 * p - 2, true, false})) << p << ' ' << m;
    }
}

/// It holds what there is, and is no worse in span than zb-h1, whose span bubble it shortens.
TEST(ZbH2, OfFewMicroBatchesIsBetweenZbH1AndAFullOne) {
    std::mt19937 random(2401);
    std::uniform_int_distribution<int> draw(1, 100);
    for (int p = 1; p <= 8; ++p)
        for (int m = 1; m < 2 * p - 1; ++m)
            for (int i = 0; i < 20; ++i) {
                const int f = draw(random);
                const int b = draw(random);
                const StageCosts c{Duration{f}, Duration{b},
                                   Duration{draw(random) % std::min(f, b)}};
                const PipelineCosts costs{{c}, {}, std::nullopt};
                const Schedule schedule = generate("zb-h2", {p, 1, m});
                EXPECT_TRUE(validate(schedule).empty()) << p << ' ' << m;
                const Replay h2 = replay(schedule, costs);
                const Replay h1 = replay(generate("zb-h1", {p, 1, m}), costs);
                const Replay full = replay(generate("zb-h2", {p, 1, 2 * p - 1}), costs);
                EXPECT_LE(h2.span_bubble, h1.span_bubble + 1e-12) << p << ' ' << m;
                EXPECT_LE(std::ranges::max(h2.peak_live_until_weight), m) << p << ' ' << m;
                EXPECT_LE(std::ranges::max(h2.peak_live_until_weight),
                          std::ranges::max(full.peak_live_until_weight));
                EXPECT_GE(std::ranges::max(h2.peak_live_until_weight),
                          std::ranges::max(h1.peak_live_until_weight));
            }
}

/// Rank r cannot start before r stages are through; the last rank starts last, and works m rounds.
TEST(EveryGenerator, TakesAtLeastTheLowerBound) {
    std::mt19937 random(3);
    std::uniform_int_distribution<int> draw(1, 100);
    for (const Generator& generator : generators())
        for (int p = 1; p <= 6; ++p)
            for (int v = 1; v <= 3; ++v)
                for (const int m : {1, 3, 4, 6, 8, 12}) {
                    const PipelineShape shape{p, v, m};
                    if (generator.why_not(shape, {})) continue;
                    if (generator.uses_costs && m > 6) continue;  // searched for: slow
                    const Schedule schedule = generate(generator.name, shape);
                    if (schedule.placement.name() == "bidirectional" && p > 1) continue;
                    const StageCosts c{Duration{draw(random)}, Duration{draw(random)},
                                       Duration{draw(random)}};
                    const PipelineCosts costs{{c}, Duration{draw(random)}, std::nullopt};
                    EXPECT_GE(
                        replay(schedule, costs).makespan,
                        v * m * (c.forward + c.backward()) + (p - 1) * (c.forward + costs.link))
                        << generator.name << ' ' << p << ' ' << v << ' ' << m;
                }
}

}  // namespace
}  // namespace debubble
