#include <gtest/gtest.h>

#include "tests/exec/support/parity/parity_cases.h"
#include "tests/exec/support/parity/parity_checks.h"

/// Whole trainings by Muon.
namespace debubble::exec::parity {
namespace {

class MuonTraining : public testing::TestWithParam<Case> {};

TEST_P(MuonTraining, IsThatOfOneRank) {
    expect_training_of_one_rank(GetParam(), train(GetParam(), 2));
}

/// Singular values that are next to nothing become large: their rounding counts, times the rate.
Case stepped_by_muon(Case c) {
    c.optimizer = "{name: muon, lr: 0.0005, nesterov: true}";
    return c;
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, MuonTraining,
    testing::Values(
        stepped_by_muon(layout("pp2_zb_h1", "{pipeline: 2, data: 1}", "zb-h1", "llama")),
        stepped_by_muon(layout("dp2_zero1", "{data: 2, zero_stage: 1}", "1f1b", "llama")),
        stepped_by_muon(layout("dp2_zero3", "{data: 2, zero_stage: 3}", "1f1b", "llama")),
        stepped_by_muon(layout("tp2_sp", "{tensor: 2, data: 1, sequence: true}", "1f1b", "llama")),
        stepped_by_muon(layout("dualpipe_v", "{pipeline: 2, data: 1}", "dualpipe-v", "llama")),
        stepped_by_muon(layout("ep2", "{data: 2, expert: 2, zero_stage: 1}", "1f1b", "mixtral"))),
    [](const auto& each) { return each.param.name; });

TEST(MuonTraining, LearnsOtherwiseThanAdamW) {
    Case muon = stepped_by_muon(layout("muon", "{data: 1}")), adamw = muon;
    adamw.optimizer = "{name: adamw, lr: 0.0005}";
    EXPECT_NE(train(muon, 2).losses, train(adamw, 2).losses);
}

}  // namespace
}  // namespace debubble::exec::parity
