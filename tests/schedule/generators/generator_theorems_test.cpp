#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "schedule/replay/replay.h"

/// The closed forms of the papers, to the nanosecond, over many shapes and costs; and the numbers
/// that the papers print.
namespace debubble {
namespace {

GeneratorOptions option(const std::string& key, const std::string& value) {
    GeneratorOptions options;
    if (!key.empty()) options.values[key] = value;
    return options;
}

std::string say(const std::string& name, const PipelineShape& s) {
    return name + " p=" + std::to_string(s.ranks) + " v=" + std::to_string(s.stages_per_rank) +
           " m=" + std::to_string(s.micro_batches) + " k=" + std::to_string(s.slices);
}

/// Costs of one stage. W <= min(F, I), where the zero-bubble closed forms hold.
PipelineCosts random_stage_costs(std::mt19937& random, int slices) {
    const auto draw = [&](int least, int greatest) {
        return Duration{std::uniform_int_distribution<int>(least, greatest)(random) * slices};
    };
    const Duration w = draw(1, 50);
    const int least = static_cast<int>(w.count()) / slices;
    return {{{draw(least, 100), draw(least, 100), w}}, Duration{}, std::nullopt};
}

/// What a paper claims: the bubble in time of one stage's ops, and the worst rank's memory in
/// stage activations (both v times the value per rank share), for shapes where it `holds`.
struct Theorem {
    const char* name;
    const char* key;
    const char* value;
    std::function<bool(const PipelineShape&)> holds;
    std::function<Duration(const PipelineShape&, const StageCosts&)> bubble;
    std::function<double(const PipelineShape&)> peak;
    bool of_span = false;  ///< the bubble is that of the longest rank span, not of the makespan
};

bool always(const PipelineShape&) {
    return true;
}
bool whole_rounds(const PipelineShape& s) {
    return s.micro_batches % s.ranks == 0;
}
bool fills_the_pipeline_twice(const PipelineShape& s) {
    return s.micro_batches >= 2 * s.ranks - 1;
}
bool fills_the_pipeline(const PipelineShape& s) {
    return s.micro_batches >= s.ranks;
}

Duration fused(const PipelineShape& s, const StageCosts& c) {
    return (s.ranks - 1) * (c.forward + c.backward());
}
Duration one_w_hidden(const PipelineShape& s, const StageCosts& c) {
    return (s.ranks - 1) * (c.forward + c.backward_input - c.backward_weight);
}
Duration two_w_hidden(const PipelineShape& s, const StageCosts& c) {
    return std::max(Duration{}, one_w_hidden(s, c) - (s.ranks - 1) * c.backward_weight);
}
Duration warm_up_and_first_w(const PipelineShape& s, const StageCosts& c) {
    return (s.ranks - 1) * (c.forward + c.backward_input);
}
Duration sliced(const PipelineShape& s, const StageCosts& c) {
    return fused(s, c) / s.slices;
}

double all(const PipelineShape& s) {
    return s.micro_batches * s.stages_per_rank;
}
double up_to(double most, const PipelineShape& s) {
    return std::min(most, all(s));
}

const std::vector<Theorem>& theorems() {
    static const std::vector<Theorem> table{
        {"gpipe", "", "", always, fused, all},
        {"1f1b", "", "", always, fused, [](auto& s) { return up_to(s.ranks, s); }},
        {"eager-1f1b", "", "", always, fused, [](auto& s) { return up_to(2 * s.ranks - 1, s); }},
        {"interleaved-1f1b", "", "", whole_rounds, fused,
         [](auto& s) { return up_to(s.stages() + s.ranks - 1, s); }},
        {"interleaved-1f1b", "rounds", "pytorch", fills_the_pipeline, fused,
         [](auto& s) {
             const int group = s.micro_batches / (s.micro_batches / s.ranks);
             return up_to((s.stages_per_rank - 1) * group + 2 * s.ranks - 1, s);
         }},
        {"looped-bfs", "", "", fills_the_pipeline, fused, all},
        {"group-interleaved", "", "", whole_rounds, warm_up_and_first_w,
         [](auto& s) { return s.stages(); }},
        {"zb-h1", "", "", fills_the_pipeline, one_w_hidden, [](auto& s) { return s.ranks; }},
        {"zb-h2", "", "", fills_the_pipeline_twice, two_w_hidden,
         [](auto& s) { return 2 * s.ranks - 1; }, true},
        {"interleaved-zb", "", "", fills_the_pipeline, one_w_hidden,
         [](auto& s) {
             const int group = s.micro_batches / (s.micro_batches / s.ranks);
             return (s.stages_per_rank - 1) * group + s.ranks;
         }},
        {"seq-1f1b", "", "", always, sliced,
         [](auto& s) { return up_to((s.ranks + s.slices - 1.0) / s.slices, s); }},
    };
    return table;
}

Duration longest_span(const Replay& replay) {
    Duration longest{};
    for (const auto& rank : replay.ranks)
        longest = std::max(longest, rank.back().end - rank.front().begin);
    return longest;
}

double peak(const Replay& replay) {
    return std::ranges::max(replay.peak_live_until_weight);
}

void expect_theorem(const Theorem& theorem, const PipelineShape& shape, std::mt19937& random) {
    const GeneratorOptions options = option(theorem.key, theorem.value);
    const PipelineCosts costs = random_stage_costs(random, shape.slices);
    const StageCosts& c = costs.stages.front();
    const Replay result = replay(generate(theorem.name, shape, options), costs);
    const Duration work = shape.stages_per_rank * shape.micro_batches * (c.forward + c.backward());
    const Duration length = theorem.of_span ? longest_span(result) : result.makespan;
    EXPECT_EQ((length - work).count(), theorem.bubble(shape, c).count())
        << say(theorem.name, shape) << " F=" << c.forward.count()
        << " I=" << c.backward_input.count() << " W=" << c.backward_weight.count();
    EXPECT_NEAR(peak(result), theorem.peak(shape), 1e-9) << say(theorem.name, shape);
}

TEST(GeneratorTheorem, BubbleAndPeakAreThoseOfThePaper) {
    std::mt19937 random(7);
    for (const Theorem& theorem : theorems()) {
        const Generator& generator = *find_generator(theorem.name);
        const int most_slices = theorem.name == std::string("seq-1f1b") ? 4 : 1;
        int checked = 0;
        for (int p = 1; p <= 8; ++p)
            for (int v = 1; v <= generator.stages_per_rank.value_or(4); ++v)
                for (const int m : {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 40})
                    for (int k = 1; k <= most_slices; ++k) {
                        const PipelineShape shape{p, v, m, k};
                        if (generator.why_not(shape, option(theorem.key, theorem.value)) ||
                            !theorem.holds(shape))
                            continue;
                        expect_theorem(theorem, shape, random);
                        ++checked;
                    }
        EXPECT_GE(checked, 60) << theorem.name;
    }
}

TEST(GeneratorTheorem, SmallerGroupsSaveMemoryAndCostBubble) {
    std::mt19937 random(11);
    for (int p = 2; p <= 8; ++p)
        for (int v = 1; v <= 4; ++v)
            for (int group = (p + 1) / 2; group <= p; ++group)
                for (const int rounds : {2, 3, 5}) {
                    const PipelineShape shape{p, v, rounds * group};
                    const PipelineCosts costs = random_stage_costs(random, 1);
                    const auto& [f, i, w] = costs.stages.front();
                    if (shape.micro_batches < p || group * (f + i + w) < p * std::max(f, i))
                        continue;
                    const Replay result = replay(generate("group-interleaved", shape,
                                                          option("group", std::to_string(group))),
                                                 costs);
                    const Duration bubble = result.makespan - v * shape.micro_batches * (f + i + w);
                    const Duration turn =
                        (p - group) * f + std::max(Duration{}, (p - group) * i - group * w);
                    EXPECT_EQ(bubble.count(), ((p - 1) * (f + i) + (v - 1) * turn).count())
                        << say("group-interleaved", shape) << " g=" << group;
                    EXPECT_EQ(peak(result), group * (v - 1) + p);
                }
}

/// Makespan beyond that with free links, F = I = W = 1 per rank share.
double cost_of_links(const std::string& name, const PipelineShape& shape, double link) {
    const Duration share = Duration(std::chrono::seconds(12)) / shape.stages_per_rank;
    PipelineCosts costs = unit_costs(share);
    const Schedule schedule = generate(name, shape);
    const Duration free = replay(schedule, costs).makespan;
    costs.link = from_seconds(12 * link);
    return seconds(replay(schedule, costs).makespan - free) / 12;
}

TEST(GeneratorTheorem, SmallLinkDelaysCostWhatTheNoteSays) {
    const double c = 0.01;
    for (int p = 2; p <= 8; ++p)
        for (const int rounds : {1, 2, 3, 6}) {
            const int m = rounds * p;
            for (const char* name : {"gpipe", "eager-1f1b"})
                for (int odd = 0; odd < p; ++odd)
                    EXPECT_NEAR(cost_of_links(name, {p, 1, m + odd}, c), 2 * (p - 1) * c, 1e-8)
                        << say(name, {p, 1, m + odd});
            for (int v = 2; v <= 4; ++v)
                EXPECT_NEAR(cost_of_links("interleaved-1f1b", {p, v, m}, c), (2 * v * p - 2) * c,
                            1e-8)
                    << say("interleaved-1f1b", {p, v, m});
        }
}

/// F = I = W = 1 per rank share, p = 4, m = 8.
struct CheckedValue {
    const char* name;
    int stages_per_rank;
    int slices;
    double free_links;  ///< makespan at C = 0
    double slow_links;  ///< makespan at C = 0.1
    double peak;        ///< in microbatches of a rank's layers
};

TEST(GeneratorTheorem, FourRanksAndEightMicrobatchesTakeTheCheckedTimes) {
    for (const CheckedValue& row :
         {CheckedValue{"gpipe", 1, 1, 33, 33.6, 8}, CheckedValue{"1f1b", 1, 1, 33, 34.6, 4},
          CheckedValue{"eager-1f1b", 1, 1, 33, 33.6, 7},
          CheckedValue{"interleaved-1f1b", 2, 1, 28.5, 29.9, 5.5},
          CheckedValue{"interleaved-1f1b", 4, 1, 26.25, 29.25, 4.75},
          CheckedValue{"looped-bfs", 2, 1, 28.5, 29.1, 8}, CheckedValue{"zb-h1", 1, 1, 27, 28.2, 4},
          CheckedValue{"interleaved-zb", 2, 1, 25.5, 27.1, 4},
          CheckedValue{"zb-h2", 1, 1, 27, 27.3, 7},
          CheckedValue{"seq-1f1b", 1, 2, 28.5, 31.1, 2.5}}) {
        const auto& [name, v, slices, free_links, slow_links, most] = row;
        const Schedule schedule = generate(name, {4, v, 8, slices});
        PipelineCosts costs = unit_costs(Duration(std::chrono::seconds(1)) / v);
        const Replay free = replay(schedule, costs);
        EXPECT_NEAR(seconds(free.makespan), free_links, 1e-9) << name << ' ' << v;
        EXPECT_NEAR(peak(free) / v, most, 1e-9) << name << ' ' << v;
        costs.link = from_seconds(0.1);
        EXPECT_NEAR(seconds(replay(schedule, costs).makespan), slow_links, 1e-9)
            << name << ' ' << v;
    }
    EXPECT_EQ(replay(generate("zb-h2", {4, 1, 8}), unit_costs()).span_bubble, 0);
}

/// The zero-bubble paper's profiles (arXiv:2401.10241): milliseconds per stage, and the bubble
/// rates it gives for them; but `interleaved` is what Megatron's order makes of them.
struct Profile {
    int ranks, micro_batches;
    double forward, backward_input, backward_weight, link;
    double one_f_one_b, interleaved, zb_h1, zb_h2;
};

constexpr Profile kProfiles[] = {
    {8, 24, 18.522, 18.086, 9.337, 0.601, 0.2431, 0.1090, 0.1585, 0.1083},
    {8, 32, 18.513, 18.086, 9.331, 0.626, 0.1985, 0.0847, 0.1242, 0.0837},
    {8, 64, 18.546, 18.097, 9.321, 0.762, 0.1240, 0.0461, 0.0674, 0.0444},
    {16, 48, 11.347, 11.248, 8.132, 0.377, 0.2552, 0.1136, 0.1397, 0.0672},
    {16, 64, 11.307, 11.254, 8.101, 0.379, 0.2082, 0.0878, 0.1088, 0.0516},
    {16, 128, 11.325, 11.308, 8.109, 0.378, 0.1251, 0.0459, 0.0576, 0.0266}};

double span_bubble(const Profile& profile, const char* name, int v) {
    const auto share = [&](double milliseconds) { return from_seconds(milliseconds * 1e-3 / v); };
    const PipelineCosts costs{
        {{share(profile.forward), share(profile.backward_input), share(profile.backward_weight)}},
        from_seconds(profile.link * 1e-3),
        std::nullopt};
    return replay(generate(name, {profile.ranks, v, profile.micro_batches}), costs).span_bubble;
}

TEST(GeneratorTheorem, BubbleRatesAreThoseOfTheZeroBubblePaperToFourDigits) {
    for (const Profile& profile : kProfiles) {
        const std::string at = say("", {profile.ranks, 1, profile.micro_batches});
        EXPECT_NEAR(span_bubble(profile, "1f1b", 1), profile.one_f_one_b, 5e-5) << at;
        EXPECT_NEAR(span_bubble(profile, "zb-h1", 1), profile.zb_h1, 5e-5) << at;
        EXPECT_NEAR(span_bubble(profile, "zb-h2", 1), profile.zb_h2, 5e-5) << at;
    }
}

TEST(GeneratorTheorem, InterleavedPaysItsHopsInTheSameProfiles) {
    // Not the paper's figures: those hide p hops more than Megatron's order can.
    for (const Profile& profile : kProfiles)
        EXPECT_NEAR(span_bubble(profile, "interleaved-1f1b", 3), profile.interleaved, 5e-5);
}

}  // namespace
}  // namespace debubble
