#pragma once

#include <cstdint>
#include <string>

#include "sim/predict.h"

/// A prediction in round figures, written down instead of made.
namespace debubble::sim::sample {

inline constexpr std::int64_t kGib = 1LL << 30;

inline scenarios::Scenario two_stages() {
    scenarios::Scenario s;
    s.name = "tiny";
    s.model.name = "gpt2";
    s.cluster.name = "a40-pair";
    s.cluster.gpu.name = "NVIDIA A40";
    s.gpus = 2;
    s.parallel.pipeline = 2;
    s.schedule.name = "1f1b";
    s.training.micro_batches = 4;
    s.training.micro_batch = 8;
    s.training.seq_length = 1024;
    s.framework.name = "megatron-2026";
    s.given = {{"framework.dispatcher", "deepep"}, {"training.optimizer", "muon"}};
    return s;
}

inline Bubble bubble(int rank, int begin_ms, int end_ms, BubbleCause cause) {
    const auto at = [](int ms) { return Instant{std::chrono::milliseconds(ms)}; };
    return {Rank{rank}, at(begin_ms), at(end_ms), cause, 0};
}

/// Rank 0 waits 20 ms for a stage, rank 1 10 ms at either end.
inline Statistics two_ranks_of_100_ms() {
    Statistics s;
    s.step = std::chrono::milliseconds(100);
    s.bubbles = {bubble(0, 40, 60, BubbleCause::OtherStage), bubble(1, 0, 10, BubbleCause::WarmUp),
                 bubble(1, 85, 95, BubbleCause::CoolDown)};
    s.ranks.resize(2);
    s.ranks[1].rank = Rank{1};
    for (const Bubble& b : s.bubbles) {
        RankStatistics& rank = s.ranks[static_cast<std::size_t>(b.rank.index)];
        rank.idle += b.end - b.begin;
        rank.idle_by_cause[static_cast<std::size_t>(b.cause)] += b.end - b.begin;
    }
    return s;
}

inline RankPrediction rank(int index, std::int64_t peak_gib) {
    RankPrediction r;
    r.rank = Rank{index};
    r.stages = {Stage{index}};
    r.busy_s = 0.070;
    r.exposed_comm_s = 0.005;
    r.optimizer_s = 0.005;
    r.idle_s = 0.020;
    r.peak_memory = Bytes{peak_gib * kGib};
    r.peak_op = std::to_string(index) + "F1, gelu";
    r.memory = {Bytes{2 * kGib}, Bytes{2 * kGib}, Bytes{4 * kGib},
                Bytes{kGib},     Bytes{kGib / 2}, Bytes{peak_gib * kGib - 19 * kGib / 2}};
    return r;
}

inline PredictionWithTrace answer(bool fits) {
    PredictionWithTrace a;
    Prediction& p = a.prediction;
    p.scenario = "tiny";
    p.step_time_s = 0.100;
    p.tokens_per_s = 327680;
    p.samples_per_s = 320;
    p.mfu = 0.4321;
    p.mfu_causal = 0.4012;
    p.hfu = 0.4567;
    p.tflops_per_gpu = 64.7;
    p.bubble = 0.25;
    p.span_bubble = 0.2;
    p.makespan_s = 0.095;
    p.parameters = 124'439'808;
    p.ranks = {rank(0, fits ? 40 : 47), rank(1, 30)};
    p.fits = fits;
    p.schedule_hash = "abc";
    p.provenance = {{"gpu.peak", "datasheet", "NVIDIA A40 datasheet"},
                    {"gpu.gemm_efficiency", "fitted", "a table"},
                    {"network.latency", "fitted", "a table"}};
    p.notes = {"24 layers on 2 ranks: 12, 12"};
    a.statistics = two_ranks_of_100_ms();
    a.memory_limit = Bytes{44 * kGib};
    return a;
}

}  // namespace debubble::sim::sample
