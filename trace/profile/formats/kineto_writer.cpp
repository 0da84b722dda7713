#include "trace/profile/formats/profile_files.h"

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "trace/steps.h"

namespace debubble::profile {
namespace {

constexpr std::int64_t kBase = 1'000'000'000'000'000'000;  ///< ns since 1970 of the instant 0
constexpr std::string_view kExchange = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kInner =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

std::string microseconds(std::int64_t ns) {
    const std::int64_t size = std::abs(ns);
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

struct KernelKind {
    std::string_view category;
    std::string_view name;
    int stream = 7;
};

KernelKind kind_of(const Action& action) {
    return std::visit(
        Overloaded{
            [](const Send&) {
                return KernelKind{"kernel", kExchange, 20};
            },
            [](const Recv&) {
                return KernelKind{"kernel", kExchange, 21};
            },
            [](const Unshard&) {
                return KernelKind{"kernel", "ncclDevKernel_AllGather_RING_LL(...)", 24};
            },
            [](const ReduceGrad&) {
                return KernelKind{"kernel", "ncclDevKernel_ReduceScatter_Sum_RING_LL(...)", 24};
            },
            [](const TiedGradReduce&) {
                return KernelKind{"kernel", kInner, 24};
            },
            [](const GradNorm&) {
                return KernelKind{"kernel", kInner, 24};
            },
            [](const Reshard&) {
                return KernelKind{"gpu_memset", "Memset (Device)", 7};
            },
            [](const Offload&) {
                return KernelKind{"gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 30};
            },
            [](const Reload&) {
                return KernelKind{"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 31};
            },
            [](const OptimizerStep&) {
                return KernelKind{"kernel", "multi_tensor_apply_kernel<AdamFunctor>", 7};
            },
            [](const auto&) {
                return KernelKind{"kernel", "gemm_of_a_pass", 7};
            },
        },
        action);
}

bool is_pass(const Action& action) {
    return std::holds_alternative<Compute>(action) || std::holds_alternative<Recompute>(action) ||
           std::holds_alternative<Overlap>(action);
}

class Writer {
public:
    Writer(const Trace& trace, const WrittenRank& rank, std::ostream& out)
        : trace_(trace), rank_(rank), out_(out) {
        const int steps = std::max(1, steps_in(trace));
        const std::vector<int> step = step_of_spans(trace, steps);
        by_step_.resize(steps);
        for (std::size_t i = 0; i < trace.spans.size(); ++i)
            if (trace.spans[i].rank == rank.rank && trace.spans[i].replica == rank.replica)
                by_step_[step[i]].push_back(i);
    }

    void write() {
        head();
        std::int64_t first = INT64_MAX;
        std::int64_t ranges = 0;
        for (const auto& spans : by_step_) ranges += static_cast<std::int64_t>(spans.size()) + 1;
        for (const Span& span : trace_.spans)
            first = std::min(first, span.begin.time_since_epoch().count());
        host_ = (first == INT64_MAX ? 0 : first) - 4 * ranges - 8;
        for (std::size_t step = 0; step < by_step_.size(); ++step) one(step);
        out_ << "\n]}\n";
    }

private:
    void head() {
        int replicas = 1;
        for (const Span& span : trace_.spans) replicas = std::max(replicas, span.replica + 1);
        const int pipeline = std::max(1, trace_.header.pipeline);
        std::string ranks;
        for (int r = 0; r < pipeline; ++r)
            ranks += fmt::format("{}{}", r == 0 ? "" : ", ", rank_.replica + replicas * r);
        out_ << fmt::format(
            R"({{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "as traced by debubble"}}],)"
            "\n"
            R"("distributedInfo": {{"backend": "debubble", "rank": {}, "world_size": {}, "pg_config":)"
            R"( [{{"pg_name": "1", "pg_desc": "mesh_pp", "pg_size": {}, "ranks": [{}]}}]}},)"
            "\n"
            R"("displayTimeUnit": "ms", "baseTimeNanoseconds": {}, "traceEvents": [)",
            rank_.global_rank, pipeline * replicas, pipeline, ranks, kBase);
    }

    void event(const std::string& json) {
        out_ << (first_ ? "\n" : ",\n") << json;
        first_ = false;
    }

    void range(std::string_view name, std::int64_t begin, std::int64_t length) {
        event(fmt::format(
            R"({{"ph": "X", "cat": "user_annotation", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": {}}})",
            name, microseconds(begin), microseconds(length)));
    }

    void one(std::size_t step) {
        const auto& spans = by_step_[step];
        range(fmt::format("ProfilerStep#{}", step), host_,
              4 * static_cast<std::int64_t>(spans.size()) + 2);
        host_ += 1;
        for (const std::size_t i : spans) {
            const Span& span = trace_.spans[i];
            range("PP:" + to_text(span.action), host_, 2);
            launches(span);
            host_ += 4;
        }
        host_ += 3;
    }

    void launches(const Span& span) {
        const std::int64_t begin = span.begin.time_since_epoch().count();
        const std::int64_t end = span.end.time_since_epoch().count();
        const KernelKind kind = kind_of(span.action);
        const std::int64_t inner = is_pass(span.action) ? span.exposed.count() : 0;
        if (inner == 0) return kernel(kind, begin, end, span.bytes);
        const std::int64_t starts = begin + (end - begin > inner ? 1 : 0);
        kernel(kind, begin, starts, {});
        kernel({"kernel", kInner, 25}, starts, starts + inner, {});
        kernel(kind, starts + inner, end, {});
    }

    void kernel(const KernelKind& kind, std::int64_t begin, std::int64_t end, Bytes bytes) {
        const int id = ++correlation_;
        event(fmt::format(
            R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {}, "dur": 0.001, "args": {{"correlation": {}}}}})",
            microseconds(host_ + 1), id));
        const std::string moved =
            bytes.count > 0 ? fmt::format(R"(, "In msg nelems": {}, "dtype": "Byte")", bytes.count)
                            : "";
        event(fmt::format(
            R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": {}, "correlation": {}{}}}}})",
            kind.category, kind.name, kind.stream, microseconds(begin), microseconds(end - begin),
            kind.stream, id, moved));
    }

    const Trace& trace_;
    const WrittenRank& rank_;
    std::ostream& out_;
    std::vector<std::vector<std::size_t>> by_step_;
    std::int64_t host_ = 0;
    int correlation_ = 0;
    bool first_ = true;
};

}  // namespace

std::vector<WrittenRank> written_ranks(const Trace& trace) {
    std::set<std::pair<std::int32_t, Rank>> units;
    std::int32_t replicas = 1;
    for (const Span& span : trace.spans) {
        units.insert({span.replica, span.rank});
        replicas = std::max(replicas, span.replica + 1);
    }
    std::vector<WrittenRank> out;
    for (const auto& [replica, rank] : units)
        out.push_back({replica, rank, replica + replicas * rank.index});
    return out;
}

void write_kineto(const Trace& trace, const WrittenRank& rank, std::ostream& out) {
    Writer(trace, rank, out).write();
}

}  // namespace debubble::profile
