#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/memory/memory_play.h"
#include "sim/predict.h"
#include "tests/exec/support/parity/parity_cases.h"

/// A rank holds, when the Program runs, the memory that the simulator predicts for it.
namespace debubble::exec::parity {
namespace {

class PlannedMemory : public testing::TestWithParam<Case> {};

TEST_P(PlannedMemory, IsWhatTheExecutorAllocates) {
    const Case& c = GetParam();
    scenarios::Scenario scenario = scenario_of(c);
    scenario.cluster.gpu.threads = 1;  // ranks are threads of a processor
    const Result result = train(c, 1);
    const sim::Prediction predicted = sim::predict(scenario).prediction;
    for (std::size_t r = 0; r < result.records.size(); ++r) {
        const StepRecord& record = result.records[r];
        const sim::PlayedMemory planned =
            sim::play_memory(scenario, result.plan.stages, result.plan.program, record.rank);
        const auto executed = static_cast<double>(total(record.peak.held).count);
        const auto expected = static_cast<double>(planned.peak_allocated.count);
        EXPECT_NEAR(executed, expected, 0.01 * expected)
            << "rank " << record.rank.index << ": executed at " << record.peak.action << " "
            << record.peak.op << ", planned at " << planned.action << " " << planned.op;
        EXPECT_NEAR(static_cast<double>(predicted.ranks[record.rank.index].peak_memory.count),
                    executed, 0.01 * expected)
            << "by the event engine";
        for (std::size_t kind = 0; kind < kMemoryClasses; ++kind)
            RecordProperty(
                fmt::format("rank_{}_{}", record.rank.index,
                            name_of(static_cast<MemoryClass>(kind))),
                fmt::format("{} of {}", record.peak.held[kind].count, planned.at_peak[kind].count));
    }
}

/// The rows of the step, by pass and layer.
sim::RowsThatCame rows_in(const std::map<Stage, std::vector<ReceivedTokens>>& rows) {
    return [&rows](Stage stage, const MicroBatch& micro_batch, int layer,
                   models::RoutedRows::Which which) {
        for (const ReceivedTokens& pass : rows.at(stage))
            if (pass.micro_batch == micro_batch && pass.layer == layer)
                return which == models::RoutedRows::Which::Received ? pass.received
                                                                    : pass.at_experts;
        throw std::logic_error(fmt::format("no rows came to layer {}", layer));
    };
}

/// Where routers decide how many rows come to a rank: the plan with those that came.
class PlannedMemoryOfExperts : public testing::TestWithParam<Case> {};

TEST_P(PlannedMemoryOfExperts, IsWhatTheExecutorAllocatesForTheRowsThatCame) {
    scenarios::Scenario scenario = scenario_of(GetParam());
    scenario.cluster.gpu.threads = 1;
    const Result result = train(GetParam(), 1);
    double most = 0, least = 2;
    for (std::size_t rank = 0; rank < result.records.size(); ++rank) {
        const StepRecord& record = result.records[rank];
        const ExpertLoad& load = result.expert_load[rank];
        most = std::max(most, load.most);
        least = std::min(least, load.mean());
        const sim::PlayedMemory planned =
            sim::play_memory(scenario, result.plan.stages, result.plan.program, record.rank, 10,
                             rows_in(result.rows[rank]));
        const auto executed = static_cast<double>(total(record.peak.held).count);
        const auto expected = static_cast<double>(planned.peak_allocated.count);
        EXPECT_NEAR(executed, expected, 0.01 * expected)
            << "rank " << rank << " at a load of " << load.mean() << ": executed at "
            << record.peak.action << " " << record.peak.op << ", planned at " << planned.action
            << " " << planned.op;
    }
    const bool shares = scenario.parallel.expert > 1;
    EXPECT_EQ(most > 1.01, shares) << "a random router is uneven";
    EXPECT_EQ(least < 0.999, shares);
}

Case wide(std::string name, std::string parallel, std::string schedule = "1f1b",
          std::string model = "gpt2-wide", std::string training = {}) {
    Case c = layout(std::move(name), std::move(parallel), std::move(schedule), std::move(model),
                    std::move(training));
    c.micro_batches = 8;
    c.seq_length = 64;
    c.optimizer = "adamw";
    return c;
}

/// Whose peak is the step, since there is one short sample in flight.
Case stepped(std::string name, std::string parallel, std::string model, std::string training,
             std::string framework = ", post_validation: true") {
    Case c =
        wide(std::move(name), std::move(parallel), "zb-h1", std::move(model), std::move(training));
    c.micro_batches = 4;
    c.seq_length = 4;
    c.framework = std::move(framework);
    return c;
}

INSTANTIATE_TEST_SUITE_P(
    Steps, PlannedMemory,
    testing::Values(
        stepped("post_validated", "{pipeline: 2, data: 1}", "gpt2-wide", "clip_norm: 0.1"),
        stepped("post_validated_zero1", "{pipeline: 2, data: 2, zero_stage: 1}", "llama-wide",
                "clip_norm: 0.1"),
        stepped("post_validated_without_clipping", "{pipeline: 2, data: 1}", "gpt2-wide", ""),
        stepped("synchronized", "{pipeline: 2, data: 1}", "gpt2-wide", "clip_norm: 0.1", "")),
    [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Travelling, PlannedMemory,
    testing::Values(
        wide("attention_pp2", "{pipeline: 2, data: 1}", "1f1b", "llama-wide",
             "offload: {modules: [attn_norm, qkv_linear, core_attn, attn_proj], "
             "min_offloaded_tensor_size: 512}"),
        wide("layers_pp2_zb_h1", "{pipeline: 2, data: 1}", "zb-h1", "gpt2-wide",
             "offload: {layers: 3, min_offloaded_tensor_size: 1}"),
        wide("experts", "{data: 1}", "1f1b", "mixtral-wide",
             "offload: {modules: [expert_fc1, moe_act], min_offloaded_tensor_size: 1}"),
        wide("beside_recompute", "{pipeline: 2, data: 1}", "1f1b", "shared-experts-wide",
             "offload: {modules: [core_attn, expert_fc1], min_offloaded_tensor_size: 1}\n  "
             "recompute: {modules: [layernorm, moe_act]}")),
    [](const auto& each) { return each.param.name; });

Case apart(std::string name, std::string parallel, std::string training = {}) {
    return wide(std::move(name), std::move(parallel), "interleaved-1f1b", "predicting-wide",
                std::move(training));
}

/// Layouts whose ranks all have layers: one with a head alone would run ahead, and how long its
/// messages wait for their receivers is up to threads.
INSTANTIATE_TEST_SUITE_P(
    PredictionsApart, PlannedMemory,
    testing::Values(
        apart("alone", "{pipeline: 2, data: 1, layout: \"Et*4|t*4|mm|L\"}"),
        apart("with_layers_tp2_sp",
              "{pipeline: 2, tensor: 2, sequence: true, data: 1, layout: \"Et*3|t*4|tmm|L\"}"),
        apart("zero2", "{pipeline: 2, data: 2, zero_stage: 2, layout: \"Et*2|t*3|t*3mm|L\"}")),
    [](const auto& each) { return each.param.name; });

Case muon(Case c) {
    c.optimizer = "muon";
    return c;
}

INSTANTIATE_TEST_SUITE_P(
    Muon, PlannedMemory,
    testing::Values(muon(wide("gpt2", "{data: 1}")),
                    muon(wide("llama_pp2_zb_h1", "{pipeline: 2, data: 1}", "zb-h1", "llama-wide")),
                    muon(wide("zero1", "{data: 2, zero_stage: 1}", "1f1b", "llama-wide")),
                    muon(wide("zero2_pp2", "{pipeline: 2, data: 2, zero_stage: 2}", "zb-h1")),
                    muon(wide("zero3", "{data: 2, zero_stage: 3}", "1f1b", "llama-wide")),
                    muon(wide("tp2", "{tensor: 2, data: 1, sequence: true}", "1f1b", "llama-wide")),
                    muon(wide("experts", "{data: 1}", "1f1b", "mixtral-wide")),
                    muon(stepped("step", "{data: 1}", "llama-wide", "", "")),
                    muon(stepped("step_zero1", "{data: 2, zero_stage: 1}", "gpt2-wide", "", "")),
                    muon(stepped("post_validated", "{pipeline: 2, data: 1}", "gpt2-wide",
                                 "clip_norm: 0.1"))),
    [](const auto& each) { return each.param.name; });

/// Whose loss makes the head's gradients, of a vocabulary that counts.
Case chunked(std::string name, std::string parallel, std::string schedule) {
    Case c = wide(std::move(name), std::move(parallel), std::move(schedule), "llama-vocabulary");
    c.seq_length = 16;
    c.framework = ", loss: chunked";
    return c;
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, PlannedMemory,
    testing::Values(
        wide("alone", "{data: 1}"), wide("gpipe", "{pipeline: 2, data: 1}", "gpipe"),
        wide("one_f_one_b", "{pipeline: 4, data: 1}"),
        wide("interleaved", "{pipeline: 2, data: 1, stages_per_rank: 2}", "interleaved-1f1b"),
        wide("zb_h1", "{pipeline: 4, data: 1}", "zb-h1"),
        wide("zb_v", "{pipeline: 2, data: 1}", "zb-v"),
        wide("tp2_sp", "{tensor: 2, data: 1, sequence: true}"),
        wide("dp2_zero1", "{data: 2, zero_stage: 1}"),
        wide("dp2_zero2", "{data: 2, zero_stage: 2}"),
        wide("pp2_dp2_zero2", "{pipeline: 2, data: 2, zero_stage: 2}"),
        wide("pp2_dp2_zero2_zb_h1", "{pipeline: 2, data: 2, zero_stage: 2}", "zb-h1"),
        wide("pp2_dp2_zero2_interleaved",
             "{pipeline: 2, data: 2, zero_stage: 2, stages_per_rank: 2}", "interleaved-1f1b",
             "llama-wide"),
        wide("dp2_zero3", "{data: 2, zero_stage: 3}"),
        wide("dp2_zero3_llama", "{data: 2, zero_stage: 3}", "1f1b", "llama-wide"),
        wide("dp2_zero3_by_stage", "{data: 2, zero_stage: 3, wrap: stage}"),
        wide("pp2_dp2_zero3_by_stage", "{pipeline: 2, data: 2, zero_stage: 3, stages_per_rank: 2}",
             "interleaved-1f1b"),
        wide("pp2_dp2_zero3_dualpipe_v", "{pipeline: 2, data: 2, zero_stage: 3, wrap: layer}",
             "dualpipe-v"),
        wide("chimera_zero2", "{pipeline: 2, data: 2, zero_stage: 2}", "chimera"),
        wide("chimera_zero2_llama", "{pipeline: 2, data: 2, zero_stage: 2}", "chimera",
             "llama-wide"),
        wide("dualpipe_zero2", "{pipeline: 2, data: 2, zero_stage: 2}", "dualpipe"),
        wide("dualpipe_zero3_by_stage", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}",
             "dualpipe", "llama-wide"),
        wide("chimera_zero2_narrow_wire",
             "{pipeline: 2, data: 2, zero_stage: 2, communication_dtype: bf16}", "chimera"),
        chunked("chunked_zero2_zb_h1", "{pipeline: 2, data: 2, zero_stage: 2}", "zb-h1"),
        chunked("chunked_zero2_zb_h2", "{pipeline: 2, data: 2, zero_stage: 2}", "zb-h2"),
        chunked("chunked_zero2", "{pipeline: 2, data: 2, zero_stage: 2}", "1f1b"),
        chunked("chunked_zero3_zb_h1", "{pipeline: 2, data: 2, zero_stage: 3, wrap: layer}",
                "zb-h1"),
        wide("zb_h2_zero2_narrow_wire",
             "{pipeline: 2, data: 2, zero_stage: 2, communication_dtype: bf16}", "zb-h2"),
        wide("dp2_zero2_recompute", "{data: 2, zero_stage: 2}", "1f1b", "llama-wide",
             "recompute: full"),
        wide("dp2_zero2_slices", "{data: 2, zero_stage: 2}", "{name: seq-1f1b, slices: 2}"),
        wide("dp2_zero3_narrow_wire", "{data: 2, zero_stage: 3, communication_dtype: bf16}"),
        wide("cp2_dp2_zero2", "{context: 2, data: 2, zero_stage: 2}"),
        wide("pp2_dp2_zero3_zb_h1", "{pipeline: 2, data: 2, zero_stage: 3, wrap: layer}", "zb-h1",
             "llama-wide"),
        wide("recompute", "{pipeline: 2, data: 1}", "1f1b", "gpt2-wide", "recompute: full"),
        wide("llama", "{pipeline: 2, data: 1}", "zb-h1", "llama-wide"),
        wide("heads", "{pipeline: 2, data: 1}", "zb-h1", "heads-wide"),
        wide("heads_tp2", "{tensor: 2, data: 1}", "1f1b", "heads-wide"),
        wide("sinks", "{pipeline: 2, data: 1}", "zb-h1", "sinks-wide"),
        wide("sinks_tp2_sp", "{tensor: 2, data: 1, sequence: true}", "1f1b", "sinks-wide"),
        wide("sinks_recompute", "{pipeline: 2, data: 1}", "1f1b", "sinks-wide", "recompute: full"),
        wide("norms_both", "{pipeline: 2, data: 1}", "zb-h1", "norms-both-wide"),
        wide("norms_both_zero3", "{data: 2, zero_stage: 3}", "1f1b", "norms-both-wide"),
        wide("norms_after_width", "{pipeline: 2, data: 1}", "zb-h1", "norms-after-wide"),
        wide("norms_after_width_tp2", "{tensor: 2, data: 1}", "1f1b", "norms-after-wide"),
        wide("norms_after_width_tp2_sp_zero2",
             "{tensor: 2, data: 2, sequence: true, zero_stage: 2}", "1f1b", "norms-after-wide"),
        wide("parallel", "{pipeline: 2, data: 1}", "zb-h1", "parallel-wide"),
        wide("parallel_tp2_sp", "{tensor: 2, data: 1, sequence: true}", "1f1b", "parallel-wide"),
        wide("parallel_zero3", "{data: 2, zero_stage: 3}", "1f1b", "parallel-wide"),
        wide("latent", "{pipeline: 2, data: 1}", "zb-h1", "latent-wide"),
        wide("latent_tp2", "{tensor: 2, data: 1}", "1f1b", "latent-wide"),
        wide("latent_tp2_sp", "{tensor: 2, pipeline: 2, data: 1, sequence: true}", "1f1b",
             "latent-wide"),
        wide("latent_cp2", "{context: 2, data: 1}", "1f1b", "latent-wide"),
        wide("latent_slices", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 4}",
             "latent-wide"),
        wide("gated_attention", "{pipeline: 2, data: 1}", "zb-h1", "gated-attention-wide"),
        wide("gated_attention_cp2", "{context: 2, data: 1}", "1f1b", "gated-attention-wide"),
        wide("weighed_experts", "{pipeline: 2, data: 1}", "zb-h1", "weighed-experts-wide"),
        wide("weighed_experts_recompute", "{pipeline: 2, data: 1}", "1f1b", "weighed-experts-wide",
             "recompute: full"),
        wide("predicting", "{pipeline: 2, data: 1}", "zb-h1", "predicting-wide"),
        wide("predicting_alone", "{data: 1}", "1f1b", "predicting-wide"),
        wide("predicting_tp2_sp", "{tensor: 2, pipeline: 2, data: 1, sequence: true}", "1f1b",
             "predicting-wide"),
        wide("predicting_zero2", "{data: 2, zero_stage: 2}", "1f1b", "predicting-wide"),
        wide("predicting_zero3", "{data: 2, zero_stage: 3}", "1f1b", "predicting-wide"),
        wide("predicting_pp2_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: layer}", "zb-h1",
             "predicting-wide"),
        wide("predicting_recompute", "{pipeline: 2, data: 1}", "1f1b", "predicting-wide",
             "recompute: full"),
        wide("experts", "{pipeline: 2, data: 1}", "zb-h1", "mixtral-wide"),
        wide("shared_experts", "{pipeline: 2, data: 1}", "zb-h1", "shared-experts-wide"),
        wide("shared_experts_recompute", "{pipeline: 2, data: 1}", "1f1b", "shared-experts-wide",
             "recompute: full"),
        wide("shared_experts_zero2_recompute", "{data: 2, zero_stage: 2}", "1f1b",
             "shared-experts-wide", "recompute: full"),
        wide("shared_experts_zero2", "{data: 2, zero_stage: 2}", "1f1b", "shared-experts-wide"),
        wide("sigmoid_experts", "{pipeline: 2, data: 1}", "zb-h1", "sigmoid-experts-wide",
             "moe_aux_loss_coeff: 0.01\n  moe_z_loss_coeff: 0.01"),
        wide("sigmoid_experts_cp2", "{context: 2, data: 1}", "1f1b", "sigmoid-experts-wide",
             "moe_aux_loss_coeff: 0.01\n  moe_router_load_balancing_type: seq_aux_loss"),
        wide("sigmoid_experts_over_step", "{data: 2}", "1f1b", "sigmoid-experts-wide",
             "moe_aux_loss_coeff: 0.01\n  moe_router_load_balancing_type: global_aux_loss"),
        wide("sigmoid_experts_slices", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 4}",
             "sigmoid-experts-wide", "moe_aux_loss_coeff: 0.01\n  recompute: full"),
        wide("many_experts", "{pipeline: 2, data: 1}", "1f1b", "mixtral-many"),
        wide("many_experts_recompute", "{pipeline: 2, data: 1}", "zb-h1", "mixtral-many",
             "recompute: full"),
        offloaded(wide("offload", "{pipeline: 2, data: 1}", "1f1b", "gpt2-wide")),
        wide("core_attn", "{pipeline: 2, data: 1}", "1f1b", "gpt2-wide",
             "recompute: {modules: [core_attn]}"),
        wide("core_attn_zb_h1", "{pipeline: 2, data: 1}", "zb-h1", "gpt2-wide",
             "recompute: {modules: [core_attn]}"),
        wide("core_attn_tp2_sp", "{tensor: 2, data: 1, sequence: true}", "1f1b", "llama-wide",
             "recompute: {modules: [core_attn, layernorm]}"),
        wide("mlps", "{pipeline: 2, data: 1}", "1f1b", "llama-wide", "recompute: {modules: [mlp]}"),
        wide("mlps_of_one_layer", "{pipeline: 2, data: 1}", "1f1b", "llama-wide",
             "recompute: {modules: [mlp], layers: 1}"),
        wide("norms", "{pipeline: 2, data: 1}", "zb-h1", "gpt2-wide",
             "recompute: {modules: [layernorm]}"),
        wide("up_projections", "{pipeline: 2, data: 1}", "1f1b", "latent-wide",
             "recompute: {modules: [mla_up_proj]}"),
        wide("experts_again", "{pipeline: 2, data: 1}", "1f1b", "sigmoid-experts-wide",
             "recompute: {modules: [moe]}"),
        wide("shared_experts_again", "{pipeline: 2, data: 1}", "zb-h1", "sigmoid-experts-wide",
             "recompute: {modules: [shared_experts, moe_act]}"),
        wide("full_of_one_layer", "{pipeline: 2, data: 1}", "1f1b", "llama-wide",
             "recompute: {layers: 1}"),
        wide("full_of_groups", "{pipeline: 2, data: 1}", "1f1b", "llama-wide",
             "recompute: {layers: 2, method: uniform}"),
        wide("selective_op", "{pipeline: 2, data: 1}", "1f1b", "llama-wide",
             "recompute: selective-op"),
        wide("cp2", "{context: 2, data: 1}"),
        wide("cp4_grouped", "{context: 4, pipeline: 2, data: 1}", "zb-h1", "llama-wide"),
        wide("cp2_recompute", "{context: 2, pipeline: 2, data: 1}", "1f1b", "gpt2-wide",
             "recompute: full"),
        wide("cp2_tp2_sp", "{context: 2, tensor: 2, data: 1, sequence: true}", "1f1b",
             "llama-wide"),
        wide("slices", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 4}"),
        wide("cp2_slices", "{context: 2, pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 4}",
             "llama-wide"),
        wide("cp4_slices_recompute", "{context: 4, data: 1}", "{name: seq-1f1b, slices: 2}",
             "gpt2-wide", "recompute: full"),
        wide("slices_alone", "{data: 1}", "{name: seq-1f1b, slices: 2}"),
        wide("slices_recompute", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 4}",
             "gpt2-wide", "recompute: full"),
        offloaded(wide("slices_offload", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 4}",
                       "gpt2-wide")),
        wide("slices_grouped", "{pipeline: 4, data: 1}", "{name: seq-1f1b, slices: 4}",
             "llama-wide"),
        wide("slices_grouped_recompute", "{pipeline: 2, data: 1}", "{name: seq-1f1b, slices: 8}",
             "llama-wide", "recompute: full"),
        wide("slices_tp2_sp", "{tensor: 2, pipeline: 2, data: 1, sequence: true}",
             "{name: seq-1f1b, slices: 2}", "llama-wide")),
    [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Layouts, PlannedMemoryOfExperts,
    testing::Values(
        wide("ep2", "{data: 2, expert: 2}", "1f1b", "mixtral-wide"),
        wide("ep4_pp2_zb_h1", "{pipeline: 2, data: 4, expert: 4}", "zb-h1", "mixtral-wide"),
        wide("ep2_dp4_zero1", "{data: 4, expert: 2, zero_stage: 1}", "1f1b", "mixtral-wide"),
        wide("ep2_dp4_zero2", "{data: 4, expert: 2, zero_stage: 2}", "1f1b", "mixtral-wide"),
        wide("ep2_dp2_zero2", "{data: 2, expert: 2, zero_stage: 2}", "1f1b", "mixtral-wide"),
        wide("ep2_dp2_zero2_recompute", "{data: 2, expert: 2, zero_stage: 2}", "1f1b",
             "mixtral-wide", "recompute: full"),
        wide("ep2_experts_again", "{pipeline: 2, data: 2, expert: 2}", "1f1b", "mixtral-wide",
             "recompute: {modules: [moe]}"),
        wide("ep2_activations_again", "{pipeline: 2, data: 2, expert: 2}", "1f1b", "mixtral-wide",
             "recompute: {modules: [moe_act, core_attn]}"),
        wide("ep2_activations_again_zb_h1", "{pipeline: 2, data: 2, expert: 2}", "zb-h1",
             "mixtral-wide", "recompute: {modules: [moe_act]}"),
        wide("ep2_travelling", "{pipeline: 2, data: 2, expert: 2}", "zb-h1", "mixtral-wide",
             "offload: {modules: [core_attn, expert_fc1], min_offloaded_tensor_size: 1}"),
        wide("ep2_recompute", "{pipeline: 2, data: 2, expert: 2}", "zb-h1", "mixtral-wide",
             "recompute: full"),
        wide("etp2", "{tensor: 2, data: 1, sequence: true}", "1f1b", "mixtral-wide"),
        wide("etp2_ep2", "{tensor: 2, data: 2, sequence: true, expert: 2}", "1f1b", "mixtral-wide"),
        wide("etp1_ep4", "{tensor: 2, data: 2, sequence: true, expert: 4, expert_tensor: 1}",
             "zb-h1", "mixtral-wide")),
    [](const auto& each) { return each.param.name; });

/// Pairs whose layers take turns, part by part (models/graph/turns.h).
class PlannedMemoryOfPairs : public testing::TestWithParam<Case> {};

TEST_P(PlannedMemoryOfPairs, IsWhatTheExecutorHolds) {
    scenarios::Scenario scenario = scenario_of(GetParam());
    scenario.cluster.gpu.threads = 1;
    const Result result = train(GetParam(), 1);
    for (std::size_t rank = 0; rank < result.records.size(); ++rank) {
        const StepRecord& record = result.records[rank];
        const sim::PlayedMemory planned =
            sim::play_memory(scenario, result.plan.stages, result.plan.program, record.rank, 10,
                             rows_in(result.rows[rank]));
        const auto executed = static_cast<double>(total(record.peak.held).count);
        const auto expected = static_cast<double>(planned.peak_allocated.count);
        EXPECT_NEAR(executed, expected, 0.01 * expected)
            << "rank " << rank << ": executed at " << record.peak.action << " " << record.peak.op
            << ", planned at " << planned.action << " " << planned.op;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, PlannedMemoryOfPairs,
    testing::Values(wide("ep2", "{data: 2, expert: 2}", "combined-1f1b", "mixtral-wide"),
                    wide("ep2_pp2", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}",
                         "combined-1f1b", "mixtral-wide"),
                    wide("delayed", "{data: 2, expert: 2}",
                         "{name: combined-1f1b, delay_wgrad: true}", "mixtral-wide"),
                    wide("delayed_pp2", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}",
                         "{name: combined-1f1b, delay_wgrad: true}", "shared-experts-wide"),
                    wide("backward_input", "{pipeline: 2, stages_per_rank: 2, data: 2, expert: 2}",
                         "combined-zb-v", "mixtral-wide"),
                    wide("recompute", "{data: 2, expert: 2}", "combined-1f1b",
                         "shared-experts-wide", "recompute: {modules: [core_attn, moe_act]}")),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace debubble::exec::parity
