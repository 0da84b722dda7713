#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "trace/trace.h"

/// A trace as Kineto files in which nothing names a pass: its passes are the kernels that cuBLAS,
/// cuDNN and Transformer Engine run for layers of a transformer, one after another without a pause.
namespace debubble::profile {

struct UnnamedOptions {
    int layers = 2;          ///< of every stage
    bool peers = true;       ///< sends and receives say whose they are, as uncoalesced ones do
    bool layouts = true;     ///< products say which of their factors are transposed
    std::int64_t pause = 0;  ///< ns after every kernel of a pass
};

class UnnamedRun {
public:
    UnnamedRun(const Trace& trace, UnnamedOptions options)
        : trace_(trace), options_(options), stages_(trace.program.stage_count()) {}

    std::string file(int rank) const {
        const int ranks = trace_.header.pipeline;
        std::string text = fmt::format(
            R"({{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "NVIDIA H100 80GB HBM3"}}],)"
            R"( "distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}},)"
            R"( "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [)",
            rank, ranks);
        bool first = true;
        for (const Span& span : trace_.spans) {
            if (span.rank != Rank{rank}) continue;
            for (const std::string& event : events(span)) {
                text += (first ? "\n" : ",\n") + event;
                first = false;
            }
        }
        return text + "\n]}\n";
    }

private:
    using Kernels = std::vector<const char*>;

    std::vector<std::string> events(const Span& span) const {
        return std::visit(
            Overloaded{[&](const Compute& pass) { return pass_of(span, kernels_of(pass)); },
                       [&](const Send& send) {
                           return std::vector{exchange(span, "send", "Dst Rank", send.to)};
                       },
                       [&](const Recv& recv) {
                           return std::vector{exchange(span, "recv", "Src Rank", recv.from)};
                       },
                       [](const auto&) { return std::vector<std::string>{}; }},
            span.action);
    }

    Kernels kernels_of(const Compute& pass) const {
        Kernels out;
        const bool first = pass.stage.index == 0;
        const bool last = pass.stage.index == stages_ - 1;
        const bool inputs = pass.pass != Pass::BackwardWeight;
        const bool weights = pass.pass != Pass::BackwardInput;
        if (pass.pass == Pass::Forward) {
            if (first) out.push_back("void at::native::vectorized_gather_kernel<16, long>(char*)");
            for (int layer = 0; layer < options_.layers; ++layer)
                for (const char* kernel :
                     {"ln_fwd_tuned_kernel", forward(), "cudnn_sdpa_sm90_flash_fprop_wgmma_f16",
                      forward(), forward(), "triton_poi_fused_gelu_0", forward()})
                    out.push_back(kernel);
            if (last) out.insert(out.end(), {"nvjet_head_TNT", "void cross_entropy_kernel"});
            return out;
        }
        if (last && inputs)
            out.insert(out.end(), {"void cross_entropy_backward_kernel", "nvjet_head_NNT"});
        if (last && weights) out.push_back("nvjet_head_NTN");
        const auto product = [&] {
            if (inputs) out.push_back(input());
            if (weights) out.push_back(weight());
        };
        for (int layer = 0; layer < options_.layers; ++layer) {
            product();
            if (inputs) out.push_back("triton_poi_fused_gelu_backward_1");
            product();
            product();
            if (inputs) out.push_back("cudnn_sdpa_sm90_flash_bprop_wgmma_f16");
            product();
            if (inputs) out.push_back("ln_bwd_tuned_kernel");
        }
        if (first && weights) out.push_back("void at::native::embedding_backward_feature_kernel");
        return out;
    }

    const char* forward() const {
        return options_.layouts ? "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT" : "gemm_a";
    }
    const char* input() const {
        return options_.layouts ? "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT" : "gemm_b";
    }
    const char* weight() const {
        return options_.layouts ? "nvjet_tst_192x192_64x4_2x1_v_bz_coopA_NTN" : "gemm_c";
    }

    std::vector<std::string> pass_of(const Span& span, const Kernels& kernels) const {
        std::vector<std::string> out;
        const std::int64_t begin = span.begin.time_since_epoch().count();
        const auto count = static_cast<std::int64_t>(kernels.size());
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t from = begin + span.length().count() * i / count;
            const std::int64_t to = begin + span.length().count() * (i + 1) / count;
            const std::int64_t pause = i + 1 < count ? options_.pause : 0;
            out.push_back(event(kernels[static_cast<std::size_t>(i)], 7, from, to - pause, ""));
        }
        return out;
    }

    std::string exchange(const Span& span, const char* call, const char* key, Rank peer) const {
        const std::int64_t begin = span.begin.time_since_epoch().count();
        const std::string args =
            options_.peers
                ? fmt::format(
                      R"(, "Collective name": "{}", "{}": {}, "In msg nelems": 8, "dtype": "Byte")",
                      call, key, peer.index)
                : "";
        return event("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                     call == std::string("send") ? 20 : 21, begin,
                     span.end.time_since_epoch().count(), args);
    }

    /// A kernel that the host launched long before.
    static std::string event(const std::string& name, int stream, std::int64_t begin,
                             std::int64_t end, const std::string& args) {
        const std::int64_t id = begin * 100 + stream;  // streams run one kernel at a time
        return fmt::format(
            R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": -9.000, "dur": 0.001, "args": {{"correlation": {}}}}},)"
            "\n"
            R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {}.{:03}, "dur": {}.{:03}, "args": {{"device": 0, "stream": {}, "correlation": {}{}}}}})",
            id, name, stream, begin / 1000, begin % 1000, (end - begin) / 1000,
            (end - begin) % 1000, stream, id, args);
    }

    const Trace& trace_;
    UnnamedOptions options_;
    int stages_;
};

}  // namespace debubble::profile
