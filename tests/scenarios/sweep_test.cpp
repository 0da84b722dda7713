#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::scenarios {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Sweep sweep(const std::string& grid) {
    return parse_sweep("model: gpt2\ncluster: dgx-a100-80gb\nsweep:\n" + grid, "grid.yaml");
}

std::string mistakes_in_grid(const std::string& grid) {
    try {
        sweep(grid);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(Sweep, CountsThroughItsValuesLastKeyFastest) {
    const Sweep s = sweep("  parallel.tensor: [1, 2]\n  training.micro_batch: [1, 4, 8]\n");
    ASSERT_EQ(s.points(), 6u);
    EXPECT_THAT(s.point(0), ElementsAre(Override{"parallel.tensor", "1"},
                                        Override{"training.micro_batch", "1"}));
    EXPECT_THAT(s.point(4), ElementsAre(Override{"parallel.tensor", "2"},
                                        Override{"training.micro_batch", "4"}));
    EXPECT_EQ(parse_sweep("model: gpt2\n", "none.yaml").points(), 0u);
}

TEST(Sweep, WritesOutRanges) {
    const Sweep s = sweep(
        "  a: {from: 1, to: 64, factor: 4}\n  b: {from: 2, to: 9, step: 3}\n"
        "  c: {from: 0.1, to: 0.3, step: 0.1}\n  d: {from: 3, to: 5}\n");
    EXPECT_THAT(s.keys[0].values, ElementsAre("1", "4", "16", "64"));
    EXPECT_THAT(s.keys[1].values, ElementsAre("2", "5", "8"));
    EXPECT_EQ(s.keys[2].values.size(), 3u);
    EXPECT_THAT(s.keys[3].values, ElementsAre("3", "4", "5"));
}

TEST(Sweep, ValuesReadBackAsTheyWere) {
    const Sweep s = sweep(
        "  schedule: [1f1b, {name: interleaved-1f1b, stages_per_rank: 2}, \"a: \\\"b\\\"\", ~]\n");
    EXPECT_THAT(s.keys[0].values,
                ElementsAre("1f1b", "{name: interleaved-1f1b, stages_per_rank: 2}",
                            "\"a: \\\"b\\\"\"", "~"));
}

TEST(Sweep, AdmitsThePointsThatMeetEveryCondition) {
    const Sweep s = sweep(
        "  parallel.tensor: [1, 2, 4]\n  parallel.pipeline: [1, 2, 4]\n"
        "  schedule: [1f1b, {name: zb-h1}]\n"
        "  where:\n    - parallel.tensor * parallel.pipeline <= 4\n"
        "    - parallel.pipeline > 1 or schedule.name == '1f1b'\n"
        "    - model.heads % parallel.tensor == 0\n");
    int admitted = 0;
    for (std::size_t i = 0; i < s.points(); ++i) admitted += s.admits(i) ? 1 : 0;
    EXPECT_EQ(admitted, 3 + 2 * 3);  // pipeline 1 with 1f1b: t = 1, 2, 4; else (1,2) (1,4) (2,2)
}

/// What cuts experts is what cuts all else, unless it is said.
TEST(Sweep, AConditionMayAskForWhatFollowsTensor) {
    const std::string start =
        "model: mixtral-8x7b\ncluster: hgx-h100\nsweep:\n  parallel.tensor: [1, 2, 4]\n";
    const Sweep follows =
        parse_sweep(start + "  where: parallel.expert_tensor <= 2\n", "grid.yaml");
    EXPECT_TRUE(follows.admits(0) && follows.admits(1));
    EXPECT_FALSE(follows.admits(2));
    const Sweep said = parse_sweep(
        "parallel: {expert_tensor: 1}\n" + start + "  where: parallel.expert_tensor <= 2\n",
        "grid.yaml");
    EXPECT_TRUE(said.admits(2));
}

TEST(Sweep, SaysWhatIsWrongWithAGrid) {
    EXPECT_THAT(mistakes_in_grid("  parallel.tensor: 2\n"),
                HasSubstr("grid.yaml:4:20: error: 'parallel.tensor' must be swept over a list or a "
                          "range, not '2'"));
    EXPECT_THAT(mistakes_in_grid("  a: [1]\n  where: a <\n"), HasSubstr("a value is missing"));
    EXPECT_THAT(mistakes_in_grid("  a: [1]\n  where: parallel.tensr < 2\n"),
                HasSubstr("unknown key 'parallel.tensr'; did you mean 'parallel.tensor'?"));
    EXPECT_THAT(mistakes_in_grid("  a: {from: 2, to: 1}\n"),
                HasSubstr("the range from 2 to 1 is empty"));
    EXPECT_THAT(mistakes_in_grid("  a: {from: 0, to: 1, step: 1e-9}\n"),
                HasSubstr("a range has more than 10000 values"));
    EXPECT_THAT(mistakes_in_grid("  a: {from: 1, to: 8, factor: 2, step: 2}\n"),
                HasSubstr("not both"));
    EXPECT_THAT(mistakes_in_grid("  a: []\n"), HasSubstr("'a' has no values"));
}

}  // namespace
}  // namespace debubble::scenarios
