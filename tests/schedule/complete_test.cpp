#include "schedule/lower.h"

#include <gmock/gmock.h>

#include "schedule/csv/csv.h"
#include "schedule/generators/generators.h"
#include "schedule/validate.h"

namespace debubble {
namespace {

std::string csv_of(const Schedule& schedule) {
    return write_csv(schedule);
}

template <class Kind>
Schedule without(Schedule schedule) {
    for (ActionList& list : schedule.ranks)
        std::erase_if(list, [](const Action& a) { return std::holds_alternative<Kind>(a); });
    return schedule;
}

std::string sentences(const std::vector<Violation>& violations) {
    std::string text;
    for (const Violation& v : violations) text += v.message + "\n";
    return text;
}

/// Layouts with all that lowering adds.
std::vector<LowerOptions> layouts(const Schedule& schedule) {
    std::vector<LowerOptions> all;
    for (const int zero : {0, 1, 2, 3})
        for (const bool by_stage : {false, true}) {
            LowerOptions options;
            options.data_parallel = true;
            options.zero_stage = zero;
            options.shard_by_stage = by_stage;
            options.tied = {Stage{0}, Stage{schedule.stage_count() - 1}};
            all.push_back(options);
        }
    all.push_back({});
    return all;
}

TEST(Complete, MakesOfComputesWhatLoweringDoes) {
    for (const char* name : {"1f1b", "zb-v", "interleaved-1f1b", "chimera"}) {
        const PipelineShape shape{4, find_generator(name)->stages_per_rank.value_or(1), 8};
        const Schedule order = generate(name, shape);
        for (const LowerOptions& options : layouts(order)) {
            const Program program = complete(order, options);
            EXPECT_EQ(csv_of(program), csv_of(lower(order, options))) << name;
            EXPECT_EQ(sentences(check_training(program, options)), "");
        }
    }
}

TEST(Complete, LeavesAProgramThatLacksNothing) {
    for (const char* name : {"1f1b", "zb-v", "dualpipe"}) {
        const PipelineShape shape{4, find_generator(name)->stages_per_rank.value_or(1), 8};
        const Schedule order = generate(name, shape);
        for (const LowerOptions& options : layouts(order)) {
            const Program program = lower(order, options);
            EXPECT_EQ(csv_of(complete(program, options)), csv_of(program)) << name;
        }
    }
}

TEST(Complete, AddsEachKindOfActionThatIsNotThereAtAll) {
    const Schedule order = generate("zb-v", {2, 2, 4});
    for (const LowerOptions& options : layouts(order)) {
        const Program whole = lower(order, options);
        const auto same = [&](const Schedule& partial) {
            const Program program = complete(partial, options);
            EXPECT_TRUE(validate(program).empty()) << sentences(validate(program));
            EXPECT_EQ(sentences(check_training(program, options)), "");
        };
        same(without<OptimizerStep>(without<GradNorm>(whole)));
        same(without<TiedGradReduce>(whole));
        same(without<ReduceGrad>(whole));
        same(without<Unshard>(without<Reshard>(whole)));
        same(without<Send>(without<Recv>(whole)));
    }
}

/// As PyTorch writes it: gathers and reductions whatever the layout, no messages yet.
TEST(Complete, TakesOutGathersOfWhatIsNotShardedByStage) {
    const std::string text =
        "0UNSHARD,0F0,0F1,0B0,0B1,0REDUCE_GRAD,0RESHARD\n"
        "1UNSHARD,1F0,1B0,1F1,1B1,1REDUCE_GRAD,1RESHARD\n";
    LowerOptions by_layer;
    by_layer.data_parallel = true;
    by_layer.zero_stage = 3;
    for (const LowerOptions& options : {LowerOptions{}, by_layer}) {
        const Program program = complete(read_csv(text, {}).schedule, options);
        EXPECT_EQ(csv_of(program), csv_of(lower(generate("1f1b", {2, 1, 2}), options)));
        EXPECT_EQ(sentences(check_training(program, options)), "");
    }
}

TEST(Complete, SaysWhatATrainingNeedsOtherwise) {
    LowerOptions options;
    options.tied = {Stage{0}, Stage{1}};
    options.data_parallel = true;
    options.zero_stage = 2;
    Program program = lower(generate("1f1b", {2, 1, 2}), options);
    std::erase(program.ranks[0], Action{TiedGradReduce{Stage{0}}});
    const auto reduces = [](const Action& a) { return std::holds_alternative<ReduceGrad>(a); };
    program.ranks[1].erase(std::ranges::find_if(program.ranks[1], reduces));
    EXPECT_EQ(sentences(check_training(complete(program, options), options)),
              "rank 0 lists 0TIED_GRAD 0 times, and this training needs it 1 times\n"
              "rank 1 lists 1REDUCE_GRAD 1 times, and this training needs it 2 times\n");
}

TEST(Complete, AGradientThatChangesBehindItsNormIsAViolation) {
    LowerOptions options;
    options.data_parallel = true;
    Program program = lower(generate("1f1b", {2, 1, 2}), options);
    ActionList& list = program.ranks[1];
    std::erase(list, Action{GradNorm{}});
    list.insert(list.begin(), GradNorm{});
    EXPECT_EQ(sentences(validate(program)),
              "1B0 comes after GRAD_NORM\n"
              "1B1 comes after GRAD_NORM\n"
              "1REDUCE_GRAD comes after GRAD_NORM\n");
}

}  // namespace
}  // namespace debubble
