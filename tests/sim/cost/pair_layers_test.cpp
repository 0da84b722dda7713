#include "sim/cost/passes/pair_layers.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"
#include "trace/statistics.h"

/// Layers that overlap layers, against a trace and against the sums of their parts.
namespace debubble::sim {
namespace {

/// DeepSeek's profile of its training (deepseek-ai/profile-data 4496024, train.json): 4 layers of
/// 64 experts each on H800s, in ms.
struct Traced {
    double combine_back, attention, mlp_back, dispatch, mlp_weights, dispatch_back, mlp, combine,
        attention_back, attention_weights;
};
constexpr Traced kTraced[] = {{4.42, 4.83, 5.47, 6.09, 5.33, 7.34, 4.29, 7.33, 9.22, 2.38},
                              {5.23, 4.39, 5.47, 5.75, 5.06, 7.91, 4.42, 8.26, 9.56, 2.39},
                              {6.21, 4.57, 5.75, 7.13, 5.26, 7.52, 5.21, 9.54, 9.65, 2.40},
                              {7.28, 4.60, 4.77, 7.99, 4.64, 7.47, 4.64, 9.65, 9.74, 2.41}};

struct Layers {
    std::vector<LayerParts> forward;
    std::vector<LayerParts> backward;
};
Layers traced(bool delays) {
    Layers layers;
    for (const Traced& t : kTraced) {
        layers.forward.push_back({t.attention, t.dispatch, t.mlp, t.combine});
        LayerParts back{t.attention_back, t.dispatch_back, t.mlp_back, t.combine_back};
        if (delays) {
            back.attention_weights = t.attention_weights;
            back.mlp_weights = t.mlp_weights;
        } else {
            back.attention += t.attention_weights;
            back.mlp += t.mlp_weights;
        }
        layers.backward.insert(layers.backward.begin(), back);  // the last layer runs first
    }
    return layers;
}

/// 129.0 ms were measured.
TEST(PairOfLayers, LastsAsLongAsDeepSeeksTrace) {
    const auto [forward, backward] = traced(true);
    EXPECT_NEAR(pair_seconds(forward, backward), 128.1, 0.1);
    EXPECT_NEAR(pair_seconds(forward, backward), 129.0, 0.01 * 129.0);
}

TEST(PairOfLayers, GainsFromDelayedWeightGradients) {
    const auto [forward, backward] = traced(false);
    EXPECT_NEAR(pair_seconds(forward, backward), 143.3, 0.1);
}

double sum(const std::vector<LayerParts>& layers, bool exchange) {
    double all = 0;
    for (const LayerParts& layer : layers)
        all += exchange ? layer.dispatch + layer.combine
                        : sum_of(layer) - layer.dispatch - layer.combine;
    return all;
}

/// Never below either stream's work, never above all of it; a forward alone lasts its sum.
TEST(PairOfLayers, LiesBetweenItsStreamsAndTheirSum) {
    const auto [forward, backward] = traced(true);
    for (std::size_t f = 0; f <= 4; ++f)
        for (std::size_t b = 0; b <= 4; ++b) {
            const std::vector<LayerParts> some(forward.begin(), forward.begin() + f);
            const std::vector<LayerParts> others(backward.begin(), backward.begin() + b);
            const double length = pair_seconds(some, others);
            const double computed = sum(some, false) + sum(others, false);
            const double exchanged = sum(some, true) + sum(others, true);
            EXPECT_GE(length, std::max(computed, exchanged) - 1e-9);
            EXPECT_LE(length, computed + exchanged + 1e-9);
            if (b == 0) {
                EXPECT_NEAR(length, computed + exchanged, 1e-9);
            }
        }
}

scenarios::Scenario plan(const std::string& schedule, const std::string& more = "") {
    return scenarios::parse_scenario(
        "model: {base: qwen3-30b-a3b, layers: 16}\ncluster: hgx-h100\ngpus: 16\n"
        "parallel: {pipeline: 2, expert: 8, expert_tensor: 1, zero_stage: 1}\nschedule: " +
            schedule + "\ntraining: {micro_batches: 8, seq_length: 4096" + more +
            "}\nframework: {base: megatron-2026, cuda_graphs: full_iteration}\n",
        "pair.yaml");
}

/// Without a limit by the host.
TEST(Combined1F1BOfExperts, IsFasterThanInterleaved1F1B) {
    const auto step = [](const std::string& schedule) {
        return predict(plan(schedule)).prediction.step_time_s;
    };
    const double plain = step("{name: interleaved-1f1b, stages_per_rank: 4}");
    const double pairs = step("{name: combined-1f1b, stages_per_rank: 4}");
    const double delayed = step("{name: combined-1f1b, stages_per_rank: 4, delay_wgrad: true}");
    EXPECT_LT(pairs, plain);
    EXPECT_LE(delayed, pairs * 1.001);
}

/// DeepSeek's profile (deepseek-ai/profile-data 4496024, train.json): four layers over 64
/// H800, whose all-to-alls take 114.5 ms, 96.3 % of it overlapped. Tokens go to the experts in 8
/// bits (arXiv:2412.19437, section 3.3.2).
TEST(Combined1F1BOfExperts, HidesAsMuchOfItsExchangeAsDeepSeeksTrace) {
    const scenarios::Scenario traced = scenarios::parse_scenario(
        "model: {base: deepseek-v3, layers: 4, layer_groups: [{count: 4}]}\n"
        "cluster: hgx-h800\nnodes: 8\nparallel: {expert: 64, zero_stage: 1}\n"
        "schedule: {name: combined-1f1b, delay_wgrad: true}\n"
        "training: {micro_batches: 4, micro_batch: 1, seq_length: 4096, precision: "
        "fp8-blockwise}\nframework: {base: megatron-2026, dispatcher: deepep, "
        "moe_dispatch_fwd_dtype: fp8, moe_combine_bwd_dtype: fp8}\n",
        "trace.yaml");
    const PairExchange sum = exchange_of_pairs(predict(traced).trace);
    EXPECT_NEAR(seconds(sum.exchange) / static_cast<double>(sum.pairs), 0.1145, 0.01145);
    EXPECT_NEAR(seconds(sum.hidden) / seconds(sum.exchange), 0.963, 0.1);
    EXPECT_GT(sum.hidden_under_gemms, Duration{});
    EXPECT_LT(sum.hidden_under_gemms, sum.hidden);
}

/// NVIDIA's profile of rank 0 (NVIDIA-NeMo/Megatron-Bridge 228e9a3, skills, MoE communication
/// overlap): the step takes 20.99 s, and 36.55 % of the communication lie beside products and
/// attention. Beside any kernel lie some 5.5 of its 10.83 s: the device is busy for 22.82 s without
/// overlap, 8.25 of them communication, and for 21.22 s with it, when kernels lose 32 of 132
/// multiprocessors.
TEST(Combined1F1BOfExperts, HidesAsMuchOfItsExchangeAsTheProfileWithHybridEp) {
    const scenarios::Scenario profiled = scenarios::parse_scenario(
        "model: qwen3-30b-a3b\ncluster: hgx-h100\ngpus: 16\n"
        "parallel: {expert: 16, expert_tensor: 1, zero_stage: 1}\n"
        "schedule: combined-1f1b\n"
        "training: {global_batch: 1024, micro_batch: 1, seq_length: 4096}\n"
        "framework: {base: megatron-2026, dispatcher: hybridep, "
        "cuda_graphs: [moe_router, moe_preprocess]}\n",
        "profile.yaml");
    const PredictionWithTrace predicted = predict(profiled);
    EXPECT_NEAR(predicted.prediction.step_time_s, 20.99, 0.08 * 20.99);
    const PairExchange sum = exchange_of_pairs(predicted.trace);
    EXPECT_NEAR(seconds(sum.hidden_under_gemms) / seconds(sum.exchange), 0.3655, 0.1);
    EXPECT_NEAR(seconds(sum.hidden) / seconds(sum.exchange), 0.51, 0.1);
}

/// GPT-NeoX 20B, whose parameters every pass gathers over four nodes.
RankPrediction gathers_in_passes(const std::string& schedule, int seq_length) {
    const scenarios::Scenario scenario = scenarios::parse_scenario(
        "model: gpt-neox-20b\ncluster: dgx-a100-80gb\n"
        "parallel: {tensor: 8, pipeline: 1, data: 4, sequence: true, zero_stage: 3}\n"
        "schedule: " +
            schedule + "\ntraining: {micro_batch: 1, micro_batches: 16, seq_length: " +
            std::to_string(seq_length) + ", precision: bf16}\nframework: megatron-2026\n",
        "gathers.yaml");
    return predict(scenario).prediction.ranks.front();
}

/// The same kernels run, and the same parameters come, whichever order the passes have.
TEST(Combined1F1B, BooksWhatItGathersAsExposed) {
    const RankPrediction plain = gathers_in_passes("1f1b", 1024);
    const RankPrediction pairs = gathers_in_passes("combined-1f1b", 1024);
    EXPECT_NEAR(pairs.busy_s / plain.busy_s, 1, 0.1);
    EXPECT_NEAR(pairs.exposed_comm_s / plain.exposed_comm_s, 1, 0.1);
}

/// While parameters come, the host goes on.
TEST(Combined1F1B, TakesNoLongerForFewerTokens) {
    double before = 0;
    for (const int tokens : {128, 256, 512, 1024, 2048, 4096}) {
        const RankPrediction rank = gathers_in_passes("combined-1f1b", tokens);
        const double step = rank.busy_s + rank.exposed_comm_s + rank.idle_s;
        EXPECT_GE(step, before) << tokens;
        before = step;
    }
}

/// A chunk of the forward more lives.
TEST(Combined1F1BOfExperts, HoldsMoreThanInterleaved1F1B) {
    const auto peak = [](const std::string& schedule) {
        return predict(plan(schedule)).prediction.ranks.front().peak_memory;
    };
    EXPECT_GT(peak("{name: combined-1f1b, stages_per_rank: 4}"),
              peak("{name: interleaved-1f1b, stages_per_rank: 4}"));
}

}  // namespace
}  // namespace debubble::sim
