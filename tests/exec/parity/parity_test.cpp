#include <gtest/gtest.h>

#include "tests/exec/support/parity_cases.h"
#include "tests/exec/support/parity_checks.h"

/// Whatever the layout and the schedule, it is the same training.
namespace debubble::exec::parity {
namespace {

class Parity : public testing::TestWithParam<Case> {};

TEST_P(Parity, IsTheTrainingOfOneRank) {
    expect_training_of_one_rank(GetParam(), train(GetParam(), 2));
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Generators, Parity, testing::ValuesIn(generator_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Layouts, Parity, testing::ValuesIn(layout_cases()), name_of_case);

}  // namespace
}  // namespace debubble::exec::parity
