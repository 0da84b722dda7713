#include "sim/grid/first_grid.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "sim/grid/search.h"

namespace debubble::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string job(const std::string& model, const std::string& more) {
    return fmt::format(
        "model: {}\ncluster: hgx-h100\nframework: megatron-2026\nschedule: 1f1b\n"
        "training: {{global_batch: 192, seq_length: 4096, attention: flash}}\n{}",
        model, more);
}

const scenarios::SweepKey& key(const Grid& grid, const std::string& name) {
    const auto at = std::ranges::find(grid.sweep.keys, name, &scenarios::SweepKey::key);
    if (at == grid.sweep.keys.end()) throw InputError("no key " + name);
    return *at;
}

TEST(MadeGrid, HasTheDegreesThatDivideTheGpus) {
    const Grid grid = made_grid(job("llama3-8b", "gpus: 24\n"), "x.yaml", {}).grid;
    EXPECT_EQ(key(grid, "parallel.pipeline").values,
              (std::vector<std::string>{"1", "2", "3", "4", "6", "8", "12"}));
    EXPECT_EQ(key(grid, "parallel.tensor").values, (std::vector<std::string>{"1", "2", "4", "8"}));
    EXPECT_EQ(key(grid, "parallel.zero_stage").values, (std::vector<std::string>{"1", "2", "3"}));
    int possible = 0;
    for (std::size_t i = 0; i < grid.points.size(); i += 41) {
        try {
            const scenarios::Scenario plan = grid.instantiate(grid.points[i]);
            EXPECT_EQ(plan.gpus, 24);
            EXPECT_EQ(plan.training.global_batch, 192);
            EXPECT_TRUE(plan.parallel.zero_stage == 1 || plan.parallel.pipeline == 1);
            ++possible;
        } catch (const InputError&) {
            continue;  // more stages than layers
        }
    }
    EXPECT_GT(possible, 10);
}

TEST(MadeGrid, LeavesWhatIsSetAsItIs) {
    const std::vector<scenarios::Override> set{{"parallel.tensor", "2"}, {"gpus", "16"}};
    const Grid grid = made_grid(job("llama3-8b", "gpus: 8\n"), "x.yaml", set).grid;
    EXPECT_THROW((void)key(grid, "parallel.tensor"), InputError);
    BatchOptions options;
    const SearchResult found = search(grid, Objective::TokensPerS, options);
    ASSERT_TRUE(found.best);
    EXPECT_EQ(grid.instantiate(found.best->index).parallel.tensor, 2);
    EXPECT_EQ(grid.instantiate(found.best->index).gpus, 16);
}

TEST(MadeGrid, CutsUnevenLayersByTheirTimes) {
    const std::string deepseek = job("deepseek-v3", "gpus: 64\n");
    const FirstGrid first = first_grid(deepseek, "x.yaml");
    EXPECT_THAT(first.lines, HasSubstr("parallel.partition: [balanced]"));  // 61 layers
    EXPECT_THAT(first.lines, HasSubstr("{modules: [mla_up_proj, layernorm, moe]}"));
    EXPECT_THAT(first.lines, HasSubstr("{name: combined-1f1b, stages_per_rank: 2}"));
    EXPECT_THAT(first.left_out, testing::Contains(HasSubstr("pipelines of more than 16")));
    EXPECT_THAT(first_grid(job("llama3-8b", "gpus: 8\n"), "x.yaml").lines,
                Not(HasSubstr("balanced")));
}

TEST(MadeGrid, TriesPipelinesWithinANodeWhereThereAreSeveral) {
    EXPECT_THAT(first_grid(job("llama3-8b", "gpus: 8\n"), "x.yaml").lines,
                Not(HasSubstr("parallel.order")));
    const Grid grid = made_grid(job("llama3-8b", "gpus: 24\n"), "x.yaml", {}).grid;
    int within = 0;
    for (const std::size_t index : grid.points) try {
            const scenarios::Parallel cut = grid.instantiate(index).parallel;
            if (cut.order == scenarios::RankOrder{}) continue;
            EXPECT_EQ(cut.order.text(), "tp-cp-ep-pp-dp");
            EXPECT_GT(cut.pipeline, 1);
            EXPECT_LE(cut.tensor * cut.context * cut.pipeline, 8);
            ++within;
        } catch (const InputError&) {
            continue;  // an impossible cut
        }
    EXPECT_GT(within, 10);
    const FirstGrid own =
        first_grid(job("llama3-8b", "gpus: 24\nparallel: {order: tp-cp-ep-pp-dp}\n"), "x.yaml");
    EXPECT_THAT(own.lines, Not(HasSubstr("parallel.order")));
}

TEST(MadeGrid, TriesContextParallelismOfLongSequences) {
    const auto degrees = [](const char* length) {
        const std::string text = fmt::format(
            "model: llama3-8b\ncluster: hgx-h100\ngpus: 64\nframework: megatron-2026\n"
            "training: {{global_batch: 64, seq_length: {}, attention: flash}}\n",
            length);
        return first_grid(text, "x.yaml");
    };
    EXPECT_THAT(degrees("32768").lines, HasSubstr("parallel.context: [1, 2, 4, 8, 16]"));
    EXPECT_THAT(degrees("8192").lines, HasSubstr("parallel.context: [1, 2, 4]"));
    EXPECT_THAT(degrees("2048").lines, Not(HasSubstr("parallel.context")));
    EXPECT_THAT(degrees("2048").left_out, testing::Contains(HasSubstr("context parallelism")));
}

/// A degree, a microbatch and a sharding that nothing else would have tried.
TEST(MadeGrid, HasThePlanThatIsWritten) {
    const Grid grid =
        made_grid(
            job("llama3-8b", "gpus: 64\nparallel: {tensor: 1, pipeline: 32, zero_stage: 2}\n"),
            "x.yaml", {{{"training.micro_batch", "3"}}})
            .grid;
    EXPECT_EQ(key(grid, "parallel.pipeline").values.back(), "32");
    int written = 0;
    for (const std::size_t index : grid.points) try {
            const scenarios::Scenario plan = grid.instantiate(index);
            EXPECT_EQ(plan.training.micro_batch, 3);
            written += plan.parallel.pipeline == 32 && plan.parallel.zero_stage == 2 &&
                       plan.parallel.tensor == 1;
        } catch (const InputError&) {
            continue;  // an impossible cut
        }
    EXPECT_GT(written, 0);
    const FirstGrid own = first_grid(
        "model: gpt2\ncluster: hgx-h100\ngpus: 1\nframework: megatron-2026\n"
        "training: {global_batch: 256, micro_batch: 128, seq_length: 1024}\n",
        "x.yaml");
    EXPECT_THAT(own.lines, HasSubstr("training.micro_batch: [1, 2, 4, 8, 16, 128]"));
    EXPECT_THAT(own.left_out, testing::Contains("microbatches of more than 16 samples"));
}

TEST(MadeGrid, KeepsTheConditionsOfASweepThatHasNothingElse) {
    const std::string text = job(
        "llama3-8b", "gpus: 8\nsweep: {where: [parallel.tensor >= 2, \"schedule != 'gpipe'\"]}\n");
    EXPECT_FALSE(has_grid(text, "x.yaml"));
    const Grid grid = made_grid(text, "x.yaml", {}).grid;
    ASSERT_FALSE(grid.points.empty());
    for (const std::size_t index : grid.points) {
        const auto changes = grid.sweep.point(index);
        EXPECT_NE(
            std::ranges::find(changes, "parallel.tensor", &scenarios::Override::first)->second,
            "1");
    }
    EXPECT_THROW(
        (void)made_grid(job("llama3-8b", "gpus: 8\nsweep: {where: 'paralel > 1'}\n"), "x.yaml", {}),
        InputError);
}

/// Its class token is on every rank: neither sequence nor context parallelism.
TEST(MadeGrid, OfAViTHasPlans) {
    const std::string vit =
        "model: vit-base\ncluster: hgx-h100\ngpus: 8\nframework: megatron-2026\n"
        "training: {global_batch: 64}\n";
    EXPECT_TRUE(search(made_grid(vit, "x.yaml", {}).grid, Objective::TokensPerS).best);
}

TEST(MadeGrid, TellsTheMistakesThatNoCutMends) {
    const auto mistake = [](const std::string& text, const scenarios::Override& set) {
        try {
            (void)made_grid(text, "x.yaml", {&set, 1});
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string whole = job("llama3-8b", "gpus: 8\n");
    EXPECT_THAT(mistake("", {"gpus", "8"}), HasSubstr("model"));
    EXPECT_THAT(mistake(whole, {"training.tokens", "nonsense"}), HasSubstr("nonsense"));
    EXPECT_THAT(mistake(whole, {"training.precisoin", "bf16"}), HasSubstr("precisoin"));
    // A cut that is impossible is mended by the grid's.
    EXPECT_EQ(mistake(job("llama3-8b", "gpus: 8\nparallel: {tensor: 3}\n"), {"name", "cut"}), "");
}

TEST(MadeGrid, IsNotMadeWhereThereIsOne) {
    EXPECT_FALSE(has_grid(job("llama3-8b", "gpus: 8\n"), "x.yaml"));
    EXPECT_TRUE(
        has_grid(job("llama3-8b", "gpus: 8\nsweep: {parallel.tensor: [1, 2]}\n"), "x.yaml"));
}

}  // namespace
}  // namespace debubble::sim
