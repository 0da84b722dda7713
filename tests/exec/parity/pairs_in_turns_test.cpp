#include <gtest/gtest.h>

#include "tests/exec/support/parity/parity_cases.h"
#include "tests/exec/support/parity/parity_checks.h"

/// Pairs of combined 1F1B whose layers take turns.
namespace debubble::exec::parity {
namespace {

class PairsInTurns : public testing::TestWithParam<Case> {};

TEST_P(PairsInTurns, AreTheTrainingOfOneRank) {
    expect_training_of_one_rank(GetParam(), train(GetParam(), 2));
}

Case paired(std::string name, std::string parallel, std::string model = "mixtral",
            std::string training = {}, std::string schedule = "combined-1f1b") {
    Case c = layout(std::move(name), std::move(parallel), std::move(schedule), std::move(model),
                    std::move(training));
    c.micro_batches = 8;
    return c;
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, PairsInTurns,
    testing::Values(
        paired("ep2", "{data: 2, expert: 2}"),
        paired("ep2_pp2", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}"),
        paired("dense_layers_first", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}",
               "shared-experts"),
        paired("router_losses", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}",
               "sigmoid-experts", "moe_aux_loss_coeff: 0.3\n  moe_z_loss_coeff: 0.01"),
        paired("zero1", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2, zero_stage: 1}"),
        paired("zero2", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2, zero_stage: 2}"),
        paired("tp2_sp", "{tensor: 2, sequence: true, data: 2, expert: 2}"),
        paired("etp1", "{tensor: 2, sequence: true, data: 2, expert: 4, expert_tensor: 1}"),
        paired("recompute", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}", "mixtral",
               "recompute: {modules: [core_attn, moe_act, layernorm]}"),
        paired("offload", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}", "mixtral",
               "offload: {modules: [core_attn, expert_fc1], min_offloaded_tensor_size: 1}"),
        paired("delayed", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}", "mixtral", {},
               "{name: combined-1f1b, delay_wgrad: true}"),
        paired("backward_input", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}", "mixtral",
               {}, "combined-zb-v"),
        paired("without_experts", "{pipeline: 2, stages_per_rank: 2, data: 1}", "llama")),
    [](const auto& each) { return each.param.name; });

/// A part without its times.
std::string words(const PairPart& part) {
    return to_text(Action{part.pass}) + (part.lane == Lane::Compute ? "" : " exchange");
}

/// What Megatron-Core issues for a layer of a pair, with each exchange where its pass waits for it:
/// the other pass has computed since it was asked for.
TEST(PairsInTurns, ComputeBesideTheOtherPassesExchange) {
    const Result result = train(paired("parts", "{data: 2, expert: 2}"), 1);
    for (const StepRecord& record : result.records) {
        std::size_t pairs = 0;
        for (const Span& span : record.spans) {
            const auto* overlap = std::get_if<Overlap>(&span.action);
            if (overlap == nullptr) continue;
            ++pairs;
            std::vector<std::string> parts;
            for (const PairPart& part : record.pair_parts) {
                if (part.pass != overlap->first && part.pass != overlap->second) continue;
                parts.push_back(words(part));
                EXPECT_LE(part.begin, part.end);
                if (part.lane != Lane::Compute) continue;
                EXPECT_GE(part.begin, span.begin);
                EXPECT_LE(part.end, span.end);
            }
            const std::string f = to_text(Action{overlap->first});
            const std::string b = to_text(Action{overlap->second});
            std::vector<std::string> expected{f, b};  // embedding; head and loss
            for (int i = 0; i < 8; ++i)
                for (const std::string& part : {b, f, b + " exchange", b, f + " exchange", f,
                                                b + " exchange", b, f + " exchange", f})
                    expected.push_back(part);
            expected.insert(expected.end(), {b, f});
            EXPECT_EQ(parts, expected);
        }
        EXPECT_EQ(pairs, 3U) << "each of four microbatches but the last has a partner";
    }
}

/// Delayed weight gradients come where Megatron-Core computes them: those of experts once the other
/// pass's rows are on their way, attention's at the end of their layer.
TEST(PairsInTurns, ComputeDelayedWeightsWhereNothingWaitsForThem) {
    const Result result = train(paired("delayed_parts", "{data: 2, expert: 2}", "mixtral", {},
                                       "{name: combined-1f1b, delay_wgrad: true}"),
                                1);
    const auto step_of = [](const PairPart& part) {
        return std::string(part.pass.pass == Pass::Forward ? "F " : "B ") +
               std::string(name_of(part.step)) + (part.lane == Lane::Compute ? "" : " exchange");
    };
    for (const StepRecord& record : result.records) {
        std::vector<std::string> of_a_layer;
        for (const PairPart& part : record.pair_parts)
            if (part.step != PairStep::Outside && of_a_layer.size() < 12)
                of_a_layer.push_back(step_of(part));
        EXPECT_EQ(of_a_layer,
                  (std::vector<std::string>{
                      "B combine", "F attention", "B combine exchange", "B experts",
                      "B expert weights", "F dispatch exchange", "F experts", "B dispatch exchange",
                      "B attention", "B attention weights", "F combine exchange", "F combine"}));
    }
}

TEST(PairsInTurns, LeaveTheBitsOfPassesOneAfterTheOther) {
    Case paired_case = paired("paired", "{data: 2, expert: 2}");
    Case plain = paired_case;
    plain.schedule = "1f1b";
    const Result together = train(paired_case, 2), apart = train(plain, 2);
    EXPECT_EQ(together.losses, apart.losses);
    EXPECT_EQ(together.gradients, apart.gradients);
    EXPECT_EQ(together.weights, apart.weights);
}

}  // namespace
}  // namespace debubble::exec::parity
