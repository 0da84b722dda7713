#include <gtest/gtest.h>

#include "tests/exec/support/parity/parity_cases.h"
#include "tests/exec/support/parity/parity_checks.h"
#include "tests/exec/support/tested_device.h"

/// Whole jobs on the CUDA back end: the training of the processor, whatever the layout and the
/// schedule.
namespace debubble::exec::parity {
namespace {

Case on_device(std::string name, std::string model, std::string schedule = "1f1b",
               std::string parallel = "{data: 1}", std::string training = {}) {
    Case c;
    c.name = std::move(name);
    c.model = std::move(model);
    c.schedule = std::move(schedule);
    c.parallel = std::move(parallel);
    c.training = std::move(training);
    c.device = tested_device;
    return c;
}

class DeviceParity : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (const std::string reason = why_no_device(); !reason.empty()) GTEST_SKIP() << reason;
    }
};
std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

class AgainstTheProcessor : public DeviceParity {};
TEST_P(AgainstTheProcessor, TrainsTheSameNetwork) {
    expect_training_of_the_processor(GetParam());
}
Case adamw(Case c) {
    c.name += "_adamw";
    c.optimizer = "{name: adamw, lr: 0.001, eps: 0.01}";  // at eps 1e-8 noise has steps of its own
    return c;
}
Case momentum(Case c) {
    c.name += "_momentum";
    c.optimizer = "{name: sgd, lr: 0.1, momentum: 0.9}";
    return c;
}
/// Norms, biases and matrices decay apart.
Case decaying(Case c) {
    c.name += "_decaying";
    c.optimizer =
        "{name: adamw, lr: 0.001, eps: 0.01, weight_decay: 20, weight_decay_of: matrices}";
    return c;
}
/// Norms decay to 1, all else to 0.
Case decaying_whole(Case c) {
    c.name += "_decaying_whole";
    c.optimizer = "{name: sgd, lr: 0.1, momentum: 0.9, weight_decay: 0.2}";
    return c;
}
/// Singular values that are next to nothing become large: their rounding counts, times the rate.
Case muon(Case c) {
    c.name += "_muon";
    c.optimizer = "{name: muon, lr: 0.0005, nesterov: true}";
    return c;
}
Case dropping(Case c) {
    c.framework = ", capacity_factor: 1";
    return c;
}
INSTANTIATE_TEST_SUITE_P(
    Networks, AgainstTheProcessor,
    testing::Values(on_device("gpt2", "gpt2"), adamw(on_device("gpt2", "gpt2")),
                    on_device("gpt2_dropout", "gpt2-dropout"), on_device("llama", "llama"),
                    on_device("vit", "vit"), on_device("experts", "mixtral"),
                    on_device("shared_experts", "shared-experts"),
                    on_device("squared_relu_experts", "squared-relu-experts"),
                    on_device("clamped_experts", "clamped-experts"),
                    on_device("shared_gates", "gated-shared-experts"),
                    on_device("sigmoid_experts", "sigmoid-experts", "1f1b", "{data: 1}",
                              "moe_aux_loss_coeff: 0.3\n  moe_z_loss_coeff: 0.01\n  "
                              "moe_router_bias_update_rate: 0.05"),
                    on_device("pre_softmax_experts", "pre-softmax-experts", "1f1b", "{data: 1}",
                              "moe_aux_loss_coeff: 0.3\n  "
                              "moe_router_load_balancing_type: seq_aux_loss"),
                    on_device("step_routers", "sigmoid-experts", "1f1b", "{data: 1}",
                              "moe_aux_loss_coeff: 0.3\n  "
                              "moe_router_load_balancing_type: global_aux_loss"),
                    on_device("sliced_routers", "sigmoid-experts", "{name: seq-1f1b, slices: 2}",
                              "{data: 1}", "moe_aux_loss_coeff: 0.3"),
                    on_device("heads", "heads"), on_device("latent", "latent"),
                    on_device("places", "places"), decaying(on_device("places", "places")),
                    decaying_whole(on_device("places", "places")),
                    dropping(on_device("dropping_experts", "mixtral")),
                    on_device("gated_attention", "gated-attention"), on_device("alibi", "alibi"),
                    on_device("weighed_experts", "weighed-experts"),
                    on_device("predicting", "predicting-experts"),
                    on_device("predicting_untied", "predicting-untied"),
                    on_device("gpt2_clipped", "gpt2", "1f1b", "{data: 1}", "clip_norm: 0.1"),
                    momentum(on_device("gpt2", "gpt2"))),
    name_of_case);

/// Main parameters and moments in the host's memory, from where they pass through the device's.
class OffloadedOptimizer : public DeviceParity {};
TEST_P(OffloadedOptimizer, LeavesTheBitsOfTheResidentOne) {
    Case offloaded = GetParam();
    offloaded.training += "\n  offload_optimizer: true";
    const Result there = train(offloaded, 3), here = train(GetParam(), 3);
    EXPECT_EQ(there.losses, here.losses);
    EXPECT_EQ(there.weights, here.weights);
    for (std::size_t rank = 0; rank < there.static_memory.size(); ++rank) {
        const auto optimizer = [&](const Result& result) {
            return result.static_memory[rank][static_cast<std::size_t>(MemoryClass::Optimizer)];
        };
        EXPECT_EQ(optimizer(there), Bytes{});
        EXPECT_GT(optimizer(here), Bytes{});
    }
}
/// Saved tensors that a lane copies to the host beside the forward, and back beside the backward.
class OffloadedModules : public DeviceParity {};
TEST_P(OffloadedModules, LeaveTheBitsOfResidentOnes) {
    Case offloaded = GetParam();
    offloaded.training +=
        "\n  offload: {modules: [attn_norm, core_attn, mlp_norm, expert_fc1], "
        "min_offloaded_tensor_size: 1}";
    const Result there = train(offloaded, 2), here = train(GetParam(), 2);
    EXPECT_EQ(there.losses, here.losses);
    EXPECT_EQ(there.weights, here.weights);
    for (std::size_t rank = 0; rank < there.records.size(); ++rank)
        EXPECT_LT(total(there.records[rank].peak.held), total(here.records[rank].peak.held));
}
INSTANTIATE_TEST_SUITE_P(
    Trainings, OffloadedModules,
    testing::Values(on_device("llama", "llama"),
                    on_device("gpt2_pp2", "gpt2", "zb-h1", "{pipeline: 2, data: 1}"),
                    on_device("experts_ep2", "mixtral", "1f1b", "{data: 2, expert: 2}")),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Muon, AgainstTheProcessor,
    testing::Values(
        muon(on_device("llama", "llama")), muon(on_device("experts", "mixtral")),
        muon(on_device("llama_clipped", "llama", "1f1b", "{data: 1}", "clip_norm: 0.1")),
        muon(on_device("llama_dp2_zero1", "llama", "1f1b", "{data: 2, zero_stage: 1}")),
        muon(on_device("llama_tp2_sp", "llama", "1f1b", "{tensor: 2, data: 1, sequence: true}"))),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Pairs, AgainstTheProcessor,
    testing::Values(on_device("pairs_ep2", "mixtral", "combined-1f1b", "{data: 2, expert: 2}"),
                    on_device("pairs_ep2_pp2", "shared-experts", "combined-1f1b",
                              "{pipeline: 2, stages_per_rank: 2, data: 2, "
                              "expert: 2}")),
    name_of_case);

Case in_slices(Case c) {
    c.name += "_in_slices";
    c.framework += ", offload_buffer: 16 KiB";
    return c;
}
/// Steps that are taken before the norm is known, and undone.
Case post_validated(Case c) {
    c.name += "_post_validated";
    c.framework += ", post_validation: true";
    return c;
}
const Case kLlamaOnFour =
    adamw(on_device("llama_pp2_dp2_zero1", "llama", "zb-h1",
                    "{pipeline: 2, data: 2, zero_stage: 1}", "clip_norm: 0.1"));
INSTANTIATE_TEST_SUITE_P(
    Trainings, OffloadedOptimizer,
    testing::Values(
        adamw(on_device("gpt2", "gpt2")), in_slices(adamw(on_device("gpt2", "gpt2"))), kLlamaOnFour,
        in_slices(post_validated(kLlamaOnFour)), in_slices(decaying(on_device("gpt2", "gpt2"))),
        in_slices(decaying_whole(on_device("places_dp2_zero1", "places", "1f1b",
                                           "{data: 2, zero_stage: 1}"))),
        momentum(on_device("vit_dp2_zero3", "vit", "1f1b", "{data: 2, zero_stage: 3}")),
        muon(on_device("llama_dp2_zero1", "llama", "1f1b", "{data: 2, zero_stage: 1}"))),
    name_of_case);

class AgainstOneRank : public DeviceParity {};
TEST_P(AgainstOneRank, IsTheSameTraining) {
    // Ranks have parts of the GPU, and a library's product on a part may sum in another order.
    constexpr bool kToTheBit = false;
    expect_training_of_one_rank(GetParam(), train(GetParam(), 2), kToTheBit);
}
INSTANTIATE_TEST_SUITE_P(
    Layouts, AgainstOneRank,
    testing::Values(
        on_device("gpipe_pp4", "gpt2", "gpipe", "{pipeline: 4, data: 1}"),
        on_device("zb_h1_pp4", "gpt2", "zb-h1", "{pipeline: 4, data: 1}"),
        on_device("zb_v_pp2", "gpt2", "zb-v", "{pipeline: 2, data: 1}"),
        on_device("interleaved_pp2", "gpt2", "interleaved-1f1b",
                  "{pipeline: 2, data: 1, stages_per_rank: 2}"),
        on_device("slices_pp2", "gpt2", "{name: seq-1f1b, slices: 2}", "{pipeline: 2, data: 1}"),
        on_device("tp2_sp", "gpt2", "1f1b", "{tensor: 2, data: 1, sequence: true}"),
        on_device("cp2_pp2", "gpt2", "zb-h1", "{context: 2, pipeline: 2, data: 1}"),
        on_device("cp2_slices", "gpt2", "{name: seq-1f1b, slices: 2}",
                  "{context: 2, pipeline: 2, data: 1}"),
        on_device("llama_cp2_tp2", "llama", "1f1b", "{context: 2, tensor: 2, data: 1}"),
        on_device("llama_tp2_pp2", "llama", "zb-h1", "{tensor: 2, data: 1, pipeline: 2}"),
        on_device("heads_cp2_tp2", "heads", "1f1b", "{context: 2, tensor: 2, data: 1}"),
        on_device("latent_tp2_sp_pp2", "latent", "zb-h1",
                  "{tensor: 2, data: 1, pipeline: 2, sequence: true}"),
        on_device("vit_pp2_dp2", "vit", "gpipe", "{pipeline: 2, data: 2}"),
        on_device("dp2_zero1", "gpt2", "1f1b", "{data: 2, zero_stage: 1}"),
        on_device("dp2_zero3", "gpt2", "1f1b", "{data: 2, zero_stage: 3}"),
        on_device("pp2_zero2", "gpt2", "1f1b",
                  "{pipeline: 2, data: 2, zero_stage: 2, wrap: stage}"),
        on_device("experts_pp2_dp2", "mixtral", "zb-h1",
                  "{pipeline: 2, data: 2, zero_stage: 2, wrap: stage}"),
        on_device("ep2_pp2", "mixtral", "zb-h1", "{pipeline: 2, data: 2, expert: 2}"),
        on_device("ep2_dp4_zero2", "mixtral", "1f1b", "{data: 4, expert: 2, zero_stage: 2}"),
        on_device("etp2_ep2", "mixtral", "1f1b", "{tensor: 2, data: 2, sequence: true, expert: 2}"),
        on_device("dropout_pp2", "gpt2-dropout", "zb-h1", "{pipeline: 2, data: 1}"),
        on_device("recompute_pp2", "gpt2", "zb-h1", "{pipeline: 2, data: 1}", "recompute: full"),
        offloaded(on_device("offload_pp2", "gpt2", "1f1b", "{pipeline: 2, data: 1}")),
        muon(on_device("dp2", "llama", "1f1b", "{data: 2}")),
        muon(on_device("dp2_zero3", "llama", "1f1b", "{data: 2, zero_stage: 3}")),
        muon(on_device("llama_tp2_pp2_dp2_zero1", "llama", "zb-h1",
                       "{tensor: 2, pipeline: 2, data: 2, zero_stage: 1}")),
        muon(on_device("ep2", "mixtral", "1f1b", "{data: 2, expert: 2, zero_stage: 1}")),
        muon(post_validated(on_device("pp2", "gpt2", "zb-h1", "{pipeline: 2, data: 1}",
                                      "clip_norm: 0.1")))),
    name_of_case);

}  // namespace
}  // namespace debubble::exec::parity
