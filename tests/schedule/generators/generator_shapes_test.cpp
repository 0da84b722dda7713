#include <map>
#include <set>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "schedule/generators/generators.h"
#include "schedule/replay/replay.h"

/// Every generator, every small shape: either a sentence why not, or a schedule that computes
/// each pass once and finishes.
namespace debubble {
namespace {

using testing::HasSubstr;

std::string why(const std::string& name, const PipelineShape& shape,
                const GeneratorOptions& options = {}) {
    return find_generator(name)->why_not(shape, options).value_or("");
}

/// Each pass counted; B counts as I and W.
void expect_every_pass_once(const Schedule& schedule, const PipelineShape& shape) {
    std::map<Compute, int> counts;
    for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank)
        for (const Action& action : schedule.ranks[rank])
            for_each_compute(action, [&](Compute c) {
                const auto held = schedule.placement.stages_of(Rank{static_cast<int>(rank)});
                EXPECT_NE(std::ranges::find(held, c.stage), held.end())
                    << to_text(action) << " on rank " << rank;
                if (c.pass == Pass::Backward) {
                    c.pass = Pass::BackwardInput;
                    ++counts[c];
                    c.pass = Pass::BackwardWeight;
                }
                ++counts[c];
            });
    const int stages = schedule.stage_count();
    EXPECT_EQ(static_cast<int>(counts.size()), 3 * stages * shape.micro_batches * shape.slices);
    for (const auto& [compute, count] : counts) {
        EXPECT_EQ(count, 1) << to_text(Action{compute});
        EXPECT_LT(compute.micro_batch.index, shape.micro_batches);
        EXPECT_EQ(compute.micro_batch.slice.has_value(), shape.slices > 1);
    }
}

/// Orders that are searched for take milliseconds each, and far more under sanitizers.
bool is_searched_too_long(const Generator& generator, int ranks, int micro_batches) {
    return generator.uses_costs && (ranks > 5 || micro_batches > 9);
}

TEST(EveryGenerator, BuildsEveryShapeOrSaysWhyNot) {
    for (const Generator& generator : generators()) {
        int built = 0;
        for (int p = 1; p <= 8; ++p)
            for (int v = 1; v <= 4; ++v)
                for (const int m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 22})
                    for (const int k : {1, 3}) {
                        const PipelineShape shape{p, v, m, k};
                        if (const Reason reason = generator.why_not(shape, {})) {
                            EXPECT_GT(reason->size(), 20u) << "a sentence with the numbers";
                            continue;
                        }
                        if (is_searched_too_long(generator, p, m)) continue;
                        SCOPED_TRACE(testing::Message() << generator.name << " p=" << p
                                                        << " v=" << v << " m=" << m << " k=" << k);
                        const Schedule schedule = generate(generator.name, shape);
                        EXPECT_EQ(schedule.shape, shape);
                        EXPECT_EQ(schedule.name, generator.name);
                        expect_every_pass_once(schedule, shape);
                        EXPECT_NO_THROW(replay(schedule, unit_costs()));
                        ++built;
                    }
        EXPECT_GT(built, 10) << generator.name;
    }
}

TEST(EveryGenerator, ThatUsesCostsKnowsItsPlacementBeforeItsOrder) {
    for (const Generator& generator : generators()) {
        EXPECT_EQ(generator.placement != nullptr, generator.uses_costs) << generator.name;
        if (generator.placement == nullptr) continue;
        const PipelineShape shape{3, generator.stages_per_rank.value_or(2), 4};
        EXPECT_EQ(generator.placement(shape), generate(generator.name, shape).placement)
            << generator.name;
    }
}

TEST(EveryGenerator, SaysWhichKindOfBackwardItWrites) {
    for (const Generator& generator : generators()) {
        const PipelineShape shape{4, generator.stages_per_rank.value_or(2), 8};
        if (generator.why_not(shape, {})) continue;
        std::set<Pass> passes;
        for (const ActionList& rank : generate(generator.name, shape).ranks)
            for (const Action& action : rank)
                for_each_compute(action, [&](const Compute& c) { passes.insert(c.pass); });
        EXPECT_EQ(passes.contains(Pass::BackwardWeight), generator.splits_backward)
            << generator.name;
    }
}

TEST(EveryGenerator, RefusesCountsThatMakeNoPipeline) {
    for (const Generator& generator : generators()) {
        const int v = generator.stages_per_rank.value_or(2);
        EXPECT_TRUE(generator.why_not({0, v, 8}, {})) << generator.name;
        EXPECT_TRUE(generator.why_not({4, v, 0}, {})) << generator.name;
        EXPECT_TRUE(generator.why_not({4, v, -3}, {})) << generator.name;
        EXPECT_TRUE(generator.why_not({4, v, 8, 0}, {})) << generator.name;
        EXPECT_TRUE(generator.why_not({2'000'000'000, v, 2'000'000'000}, {})) << generator.name;
    }
}

TEST(WhyNot, IsASentenceWithTheNumbers) {
    EXPECT_EQ(why("zb-h1", {4, 2, 8}), "it holds one stage per rank, and stages_per_rank is 2");
    EXPECT_EQ(why("1f1b", {4, 1, 8, 2}), "it does not cut sequences, and slices is 2");
    EXPECT_EQ(why("interleaved-zb", {4, 2, 13}),
              "13 microbatches on 4 ranks make 3 rounds, which must divide the microbatches");
    EXPECT_EQ(why("gpipe", {4, 1, 0}), "micro_batches must be at least 1, not 0");
    EXPECT_EQ(why("gpipe", {4000, 1, 9000}),
              "4000 ranks x 1 stages x 9000 microbatches x 1 slices are more than the 20000000 "
              "passes that a schedule may have");
    EXPECT_EQ(
        why("interleaved-1f1b", {4, 3, 5}),
        "5 microbatches leave a last group of 1 for 4 ranks, and in Megatron's order so short "
        "a group deadlocks; take a multiple of 4, or the option rounds=padded");
}

TEST(WhyNot, NamesTheOptionThatIsWrong) {
    for (const char* value : {"1", "5", "", "two", "2x", "99999999999"}) {
        GeneratorOptions options;
        options.values["group"] = value;
        EXPECT_EQ(why("group-interleaved", {4, 2, 8}, options),
                  std::string("group must be a whole number from 2 to 4, not '") + value + "'");
    }
    GeneratorOptions options;
    options.values["rounds"] = "torch";
    EXPECT_EQ(why("interleaved-1f1b", {4, 2, 8}, options),
              "rounds must be megatron, pytorch or padded, not 'torch'");
}

TEST(WhyNot, RefusesNoMoreOfMegatronsShortGroupsThanDeadlock) {
    // Whatever it refuses, the order itself would wait for ever; so written by hand here.
    for (int p = 1; p <= 8; ++p)
        for (int v = 1; v <= 4; ++v)
            for (int m = 1; m <= 3 * p; ++m) {
                const PipelineShape shape{p, v, m};
                if (why("interleaved-1f1b", shape).empty()) continue;
                const Schedule schedule = find_generator("interleaved-1f1b")->make(shape, {});
                EXPECT_THROW(replay(schedule, unit_costs()), InputError)
                    << p << ' ' << v << ' ' << m;
            }
}

TEST(Generate, ThrowsWithTheReasonAndTheNearestName) {
    const auto error = [](const std::string& name, const PipelineShape& shape,
                          const GeneratorOptions& options = {}) -> std::string {
        try {
            generate(name, shape, options);
        } catch (const InputError& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(error("zb-h2", {2, 2, 1}),
              "error: schedule 'zb-h2' cannot be built: it holds one stage per rank, and "
              "stages_per_rank is 2\n");
    GeneratorOptions limited;
    limited.memory_limits = {3};
    EXPECT_EQ(error("zb-v", {4, 2, 8}, limited),
              "error: schedule 'zb-v' takes no memory limit; zb-auto searches under one\n");
    EXPECT_EQ(error("zb-auto", {4, 1, 8}, limited), "");
    EXPECT_THAT(error("zb-h3", {2, 1, 4}), HasSubstr("did you mean 'zb-h"));
    GeneratorOptions options;
    options.values["round"] = "pytorch";
    EXPECT_THAT(error("interleaved-1f1b", {2, 2, 4}, options), HasSubstr("did you mean 'rounds'?"));
    EXPECT_THAT(error("zb-h1", {2, 1, 4}, options), HasSubstr("takes no option 'round'"));
}

}  // namespace
}  // namespace debubble
