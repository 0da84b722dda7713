#include <gtest/gtest.h>

#include "tests/exec/support/parity/parity_cases.h"

/// Activations of modules that are in the host's memory between their forward and their backward
/// change no bit of a training, and the rank holds less meanwhile.
namespace debubble::exec::parity {
namespace {

std::int64_t held_at_most(const Result& result, std::size_t rank) {
    return total(result.records.at(rank).peak.held).count;
}

class Travelling : public testing::TestWithParam<Case> {};

TEST_P(Travelling, LeavesTheBitsAndTakesLessMemory) {
    Case resident = GetParam();
    resident.training.erase(resident.training.find("offload: "), std::string::npos);
    const Result there = train(GetParam(), 2), here = train(resident, 2);
    EXPECT_EQ(there.losses, here.losses);
    EXPECT_EQ(there.gradients, here.gradients);
    EXPECT_EQ(there.weights, here.weights);
    std::int64_t less = 0;
    for (std::size_t rank = 0; rank < there.records.size(); ++rank) {
        EXPECT_LE(held_at_most(there, rank), held_at_most(here, rank)) << rank;
        less += held_at_most(here, rank) - held_at_most(there, rank);
    }
    EXPECT_GT(less, 0);
}

Case travelling(std::string name, std::string parallel, std::string schedule, std::string model,
                const std::string& what, const std::string& training = {}) {
    Case c = layout(std::move(name), std::move(parallel), std::move(schedule), std::move(model),
                    training + "offload: {" + what + ", min_offloaded_tensor_size: 1}");
    c.micro_batch = 4;
    c.micro_batches = 8;
    return c;
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Travelling,
    testing::Values(travelling("attention_pp2", "{pipeline: 2, data: 1}", "zb-h1", "llama",
                               "modules: [attn_norm, qkv_linear, core_attn, attn_proj]"),
                    travelling("layers", "{data: 1}", "1f1b", "gpt2", "layers: 8"),
                    travelling("layers_with_dropout", "{data: 1}", "1f1b", "gpt2-dropout",
                               "layers: 8"),
                    travelling("latent_tp2_sp", "{tensor: 2, data: 1, sequence: true}", "1f1b",
                               "latent", "layers: 8"),
                    travelling("experts_ep2", "{data: 2, expert: 2}", "1f1b", "mixtral",
                               "modules: [expert_fc1, moe_act]"),
                    travelling("whole_layers_of_experts_ep2", "{pipeline: 2, data: 2, expert: 2}",
                               "zb-h1", "shared-experts", "layers: 8"),
                    travelling("pairs_ep2", "{pipeline: 2, data: 2, expert: 2}", "dualpipe-v",
                               "mixtral", "modules: [core_attn, expert_fc1]"),
                    travelling("beside_recompute", "{data: 1}", "1f1b", "shared-experts",
                               "modules: [core_attn, expert_fc1]",
                               "recompute: {modules: [layernorm, moe_act]}\n  ")),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace debubble::exec::parity
