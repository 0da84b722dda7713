#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "schedule/generators/generators.h"

/// Kineto files as Megatron-LM's 1F1B writes them: nothing names a pass, transfers of NCCL wait for
/// their peers, and every rank has a clock of its own. The names of kernels are those that cuDNN,
/// cuBLAS, Transformer Engine and NCCL give; the times are round numbers, played as they would run.
namespace debubble::profile {

struct MegatronShape {
    int ranks = 4;
    int micro_batches = 6;
    int layers = 2;
    int steps = 2;
    std::vector<std::int64_t> skew{};  ///< ns by rank
    bool recompute = false;            ///< of whole layers
    std::string backend = "nccl";
    int first_step = 10;
};

struct TrueAction {
    Action action;
    int step = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

class MegatronRun {
public:
    static constexpr std::int64_t kForward = 1'000'000;  ///< ns of a layer
    static constexpr std::int64_t kBackward = 2'000'000;
    static constexpr std::int64_t kTransfer = 60'000;
    static constexpr std::int64_t kOptimizer = 900'000;
    static constexpr std::int64_t kBase = 1'790'857'026'000'000'000;
    static constexpr std::int64_t kStart = 4'549'177'894'387'460;

    explicit MegatronRun(MegatronShape shape) : shape_(std::move(shape)) {
        shape_.skew.resize(static_cast<std::size_t>(shape_.ranks), 0);
        events_.resize(shape_.skew.size());
        truth_.resize(shape_.skew.size());
        exchanges_.resize(shape_.skew.size());
        now_.assign(shape_.skew.size(), 5'000'000);
        for (int step = 0; step < shape_.steps; ++step) play(step);
    }

    const std::vector<TrueAction>& truth(int rank) const { return truth_[rank]; }
    /// Kernels of transfers in a step.
    int exchanges(int rank) const { return exchanges_[rank] / shape_.steps; }

    /// 1 - computes / (ranks x makespan) of a step.
    double bubble(int step) const {
        std::int64_t first = INT64_MAX;
        std::int64_t last = 0;
        std::int64_t work = 0;
        for (const auto& rank : truth_)
            for (const TrueAction& a : rank) {
                if (a.step != step || !std::holds_alternative<Compute>(a.action)) continue;
                first = std::min(first, a.begin);
                last = std::max(last, a.end);
                work += a.end - a.begin;
            }
        return 1 - static_cast<double>(work) / static_cast<double>(shape_.ranks * (last - first));
    }

    std::string file(int rank) const {
        std::string text = fmt::format(
            R"({{"schemaVersion": 1, "deviceProperties": [{{"id": {0}, "name": "NVIDIA H100 80GB HBM3"}}],)"
            R"( "distributedInfo": {{"backend": "{1}", "rank": {2}, "world_size": {3}}},)"
            R"( "displayTimeUnit": "ms", "baseTimeNanoseconds": {4}, "traceEvents": [)",
            rank, shape_.backend, rank * 8, shape_.ranks * 8, kBase);
        bool first = true;
        for (const std::string& event : events_[rank]) {
            text += (first ? "\n" : ",\n") + event;
            first = false;
        }
        return text + "\n]}\n";
    }

private:
    struct Call {
        bool exchange = false;
        int peer = 0;
        Compute compute;
        std::vector<Message> sends;
        std::vector<Message> receives;
    };

    int peer_of(const Compute& c, bool send) const {
        return c.stage.index + ((c.pass == Pass::Forward) == send ? 1 : -1);
    }
    bool inside(int rank) const { return rank >= 0 && rank < shape_.ranks; }
    static Message message(const Compute& c, bool send) {
        const bool forward = c.pass == Pass::Forward;
        const int producer = send ? c.stage.index : c.stage.index + (forward ? -1 : 1);
        return {forward ? Message::Kind::Activation : Message::Kind::Gradient, Stage{producer},
                c.micro_batch};
    }

    /// megatron/core/pipeline_parallel/schedules.py: what is sent to a neighbour and what comes
    /// from it next is one call of p2p_communication.py.
    std::vector<Call> calls(int rank) const {
        const Schedule schedule = generate("1f1b", {shape_.ranks, 1, shape_.micro_batches, 1});
        std::vector<Call> out;
        for (const Action& action : schedule.ranks[rank]) {
            const auto& compute = std::get<Compute>(action);
            const bool steady = shape_.micro_batches > shape_.ranks - rank - 1;
            if (const int from = peer_of(compute, false); inside(from)) {
                if (!out.empty() && out.back().exchange && out.back().peer == from && steady)
                    out.back().receives.push_back(message(compute, false));
                else
                    out.push_back({true, from, {}, {}, {message(compute, false)}});
            }
            out.push_back({false, 0, compute, {}, {}});
            if (const int to = peer_of(compute, true); inside(to))
                out.push_back({true, to, {}, {message(compute, true)}, {}});
        }
        return out;
    }

    void play(int step) {
        std::vector<std::vector<Call>> lists;
        for (int r = 0; r < shape_.ranks; ++r) lists.push_back(calls(r));
        std::vector<std::size_t> at(lists.size(), 0);
        const std::vector<std::int64_t> begin = now_;
        for (bool moved = true; moved;) {
            moved = false;
            for (int r = 0; r < shape_.ranks; ++r)
                for (; at[r] < lists[r].size() && !lists[r][at[r]].exchange; ++at[r]) {
                    compute(r, lists[r][at[r]].compute, step);
                    moved = true;
                }
            for (int r = 0; r + 1 < shape_.ranks; ++r) {
                if (at[r] == lists[r].size() || at[r + 1] == lists[r + 1].size()) continue;
                const Call& a = lists[r][at[r]];
                const Call& b = lists[r + 1][at[r + 1]];
                if (!a.exchange || !b.exchange || a.peer != r + 1 || b.peer != r) continue;
                const std::int64_t end = std::max(now_[r], now_[r + 1]) + 12'000 + kTransfer;
                exchange(r, a, end, step);
                exchange(r + 1, b, end, step);
                ++at[r];
                ++at[r + 1];
                moved = true;
            }
        }
        const std::int64_t norm = *std::max_element(now_.begin(), now_.end()) + 200'000;
        for (int r = 0; r < shape_.ranks; ++r) end_of_step(r, step, begin[r], norm);
    }

    void compute(int rank, const Compute& c, int step) {
        const std::int64_t begin = now_[rank];
        const bool forward = c.pass == Pass::Forward;
        const bool last = rank == shape_.ranks - 1;
        const auto run = [&](const char* name, std::int64_t length) {
            kernel(rank, 7, name, length);
        };
        if (forward && rank == 0)
            run("void at::native::vectorized_gather_kernel<16, long>(char*)", 10'000);
        if (forward || shape_.recompute)
            for (int layer = 0; layer < shape_.layers; ++layer) {
                run("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", kForward / 2);
                run("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7",
                    kForward / 4);
                run("triton_poi_fused_mul_silu_split_0", kForward / 4);
            }
        if (forward && last) run("void cross_entropy_kernel", 50'000);
        if (!forward) {
            if (last) run("void cross_entropy_backward_kernel", 50'000);
            for (int layer = 0; layer < shape_.layers; ++layer) {
                run("nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT", kBackward / 2);
                run("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26",
                    kBackward / 4);
                run("nvjet_tst_192x192_64x4_2x1_v_bz_coopA_NTN", kBackward / 4);
            }
            if (rank == 0)
                run("void at::native::embedding_backward_feature_kernel<c10::BFloat16>", 20'000);
        }
        truth_[rank].push_back({Action(c), step, begin, now_[rank]});
        now_[rank] += 5'000;
    }

    void exchange(int rank, const Call& call, std::int64_t end, int step) {
        const std::int64_t begin = now_[rank] + 10'000;
        for (const Message& m : call.sends)
            truth_[rank].push_back({Send{m, Rank{call.peer}}, step, begin, end});
        for (const Message& m : call.receives)
            truth_[rank].push_back({Recv{m, Rank{call.peer}}, step, begin, end});
        ++exchanges_[rank];
        event(rank, 20, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", begin, end, "");
        now_[rank] = end + 2'000;
    }

    void end_of_step(int rank, int step, std::int64_t begin, std::int64_t norm) {
        event(
            rank, 28, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            now_[rank] + 100'000, norm,
            R"(, "Collective name": "allreduce", "In msg nelems": 1, "Group size": 32, "dtype": "Float")");
        now_[rank] = norm + 5'000;
        const std::int64_t optimizer = now_[rank];
        kernel(rank, 7, "void multi_tensor_apply_kernel<TensorListMetadata<5>, AdamFunctor>",
               kOptimizer);
        truth_[rank].push_back({OptimizerStep{}, step, optimizer, now_[rank]});
        range(rank, fmt::format("ProfilerStep#{}", shape_.first_step + step), begin - 400'000,
              now_[rank] - 300'000);
        now_[rank] += 500'000;
    }

    void kernel(int rank, int stream, const char* name, std::int64_t length) {
        event(rank, stream, name, now_[rank], now_[rank] + length, "");
        now_[rank] += length;
    }

    std::string micros(int rank, std::int64_t at) const {
        const std::int64_t ns = kStart + at + shape_.skew[rank];
        return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
    }

    void range(int rank, const std::string& name, std::int64_t begin, std::int64_t end) {
        events_[rank].push_back(fmt::format(
            R"({{"ph": "X", "cat": "user_annotation", "name": "{}", "pid": 4000, "tid": 4000, "ts": {}, "dur": {}.{:03}}})",
            name, micros(rank, begin), (end - begin) / 1000, (end - begin) % 1000));
    }

    void event(int rank, int stream, const std::string& name, std::int64_t begin, std::int64_t end,
               const std::string& args) {
        const int id = ++correlation_;
        events_[rank].push_back(fmt::format(
            R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "pid": 4000, "tid": 4000, "ts": {}, "dur": 6.0, "args": {{"cbid": 430, "correlation": {}}}}})",
            micros(rank, begin - 310'000), id));
        events_[rank].push_back(fmt::format(
            R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}.{:03}, "args": {{"device": {}, "stream": {}, "correlation": {}{}}}}})",
            name, rank, stream, micros(rank, begin), (end - begin) / 1000, (end - begin) % 1000,
            rank, stream, id, args));
    }

    MegatronShape shape_;
    std::vector<std::vector<std::string>> events_;
    std::vector<std::vector<TrueAction>> truth_;
    std::vector<int> exchanges_;
    std::vector<std::int64_t> now_;
    int correlation_ = 0;
};

}  // namespace debubble::profile
