#include <gtest/gtest.h>

#include "tests/exec/support/parity/parity_cases.h"
#include "tests/exec/support/parity/parity_checks.h"

/// Whatever the layout and the schedule, it is the same training.
namespace debubble::exec::parity {
namespace {

class Parity : public testing::TestWithParam<Case> {};

TEST_P(Parity, IsTheTrainingOfOneRank) {
    expect_training_of_one_rank(GetParam(), train(GetParam(), 2));
}

/// Rows that travel come to the same products, one by one: only experts add theirs in another
/// order.
TEST(ExpertParallelism, LeavesTheBitsOfAllGradientsButTheExperts) {
    const Case whole = layout("whole", "{data: 2}", "1f1b", "mixtral");
    const Case shared = layout("shared", "{data: 2, expert: 2}", "1f1b", "mixtral");
    const Result expected = train(whole, 1), mine = train(shared, 1);
    EXPECT_EQ(mine.losses, expected.losses);
    int compared = 0;
    for (const auto& [name, gradient] : expected.gradients) {
        if (name.find(".experts.") != std::string::npos) continue;
        EXPECT_EQ(mine.gradients.at(name), gradient) << name;
        ++compared;
    }
    EXPECT_GT(compared, 8 * 6);
}

/// Whether experts drop some of a step's tokens, by the loss.
TEST(ExpertCapacity, ChangesTheTrainingWhereItIsReached) {
    Case c = layout("capacity", "{data: 1}", "1f1b", "mixtral");
    c.micro_batch = 2;
    const Result without = train(c, 2);
    c.framework = ", capacity_factor: 2";  // all tokens of a microbatch, of two experts among four
    const Result never = train(c, 2);
    EXPECT_EQ(never.losses, without.losses);
    EXPECT_EQ(never.gradients, without.gradients);
    c.framework = ", capacity_factor: 1";
    const Result reached = train(c, 2);
    EXPECT_NE(reached.losses, without.losses);
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Generators, Parity, testing::ValuesIn(generator_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Layouts, Parity, testing::ValuesIn(layout_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Attention, Parity, testing::ValuesIn(attention_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(MultiTokenPrediction, Parity, testing::ValuesIn(prediction_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Modules, Parity, testing::ValuesIn(module_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Experts, Parity, testing::ValuesIn(expert_cases()), name_of_case);

}  // namespace
}  // namespace debubble::exec::parity
