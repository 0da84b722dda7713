#include "gui/viewmodel/what_if/pass_cost.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "gui/viewmodel/timeline/words.h"
#include "models/operators/kernel.h"
#include "sim/cost/kernels/kernel_cost.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

using text::size_text;
using text::time_text;

std::string flops_text(double flops) {
    return flops >= 1e12 ? fmt::format("{:.4g} TFLOP", flops / 1e12)
                         : fmt::format("{:.4g} GFLOP", flops / 1e9);
}

/// A rate such as "258 TFLOP/s, 83 % of the peak".
std::string rate_text(double flops, Duration takes, double peak) {
    const double rate = flops / std::max(seconds(takes), 1e-12);
    std::string text = fmt::format("{:.3g} TFLOP/s", rate / 1e12);
    if (peak > 0) text += filled(said("formula", ", {:.0f} % of the peak"), 100 * rate / peak);
    return text;
}

Detail bytes_of(const models::Kernel& kernel, const scenarios::Gpu& gpu) {
    const Bytes moved = models::traffic(kernel);
    const BytesPerSecond bandwidth = sim::effective_memory_bandwidth(gpu);
    return {said("formula", "bytes"),
            fmt::format("{} / {:.4g} GB/s = {}", size_text(moved), bandwidth.value / 1e9,
                        time_text(moved / bandwidth))};
}

std::string flops_formula(const models::Gemm& g) {
    return g.batch > 1
               ? fmt::format("2 \u00d7 {} \u00d7 {} \u00d7 {} \u00d7 {}", g.batch, g.m, g.n, g.k)
               : fmt::format("2 \u00d7 {} \u00d7 {} \u00d7 {}", g.m, g.n, g.k);
}

std::string flops_formula(const models::FlashAttention& a) {
    const std::string seen = a.window   ? filled(said("formula", ", window {}"), *a.window)
                             : a.causal ? said("formula", ", causal")
                                        : "";
    const std::string pairs = filled(said("formula", "{} heads \u00d7 {} queries \u00d7 {} keys"),
                                     a.batch * a.heads, a.queries, a.keys);
    if (!a.narrow_values)
        return fmt::format("{} \u00d7 {} \u00d7 {}{}", a.backward ? "10" : "4", pairs, a.head_dim,
                           seen);
    return fmt::format("2 \u00d7 {} \u00d7 ({}{} + {}{}){}", pairs, a.backward ? "3 \u00d7 " : "",
                       a.head_dim, a.backward ? "2 \u00d7 " : "", *a.narrow_values, seen);
}

std::string_view word_of(models::Collective::Kind kind) {
    switch (kind) {
        case models::Collective::Kind::AllReduce: return "all-reduce";
        case models::Collective::Kind::AllGather: return "all-gather";
        case models::Collective::Kind::ReduceScatter: return "reduce-scatter";
        case models::Collective::Kind::AllToAll: return "all-to-all";
    }
    return "";
}

std::string_view word_of(models::Collective::Group group) {
    switch (group) {
        case models::Collective::Group::Tensor: return "tensor";
        case models::Collective::Group::Context: return "context";
        case models::Collective::Group::ContextInner: return "inner context";
        case models::Collective::Group::ContextOuter: return "outer context";
        case models::Collective::Group::Data: return "data";
        case models::Collective::Group::Expert: return "expert";
        case models::Collective::Group::ExpertTensor: return "expert-tensor";
    }
    return "";
}

std::optional<sim::Flow> flow_of(const sim::CostModel& costs, const Placement& placement,
                                 const Action& action, Rank rank) {
    if (const auto* send = std::get_if<Send>(&action))
        return costs.transfer(send->message, rank, send->to);
    if (const auto* recv = std::get_if<Recv>(&action))
        return costs.transfer(recv->message, recv->from, rank);
    if (const auto* gather = std::get_if<Unshard>(&action))
        return costs.unshard(gather->stage, rank);
    if (const auto* reduce = std::get_if<ReduceGrad>(&action))
        return costs.reduce_grad(reduce->stage, placement.ranks_of(reduce->stage));
    if (const auto* offload = std::get_if<Offload>(&action))
        return costs.offload(offload->stage, rank);
    if (const auto* reload = std::get_if<Reload>(&action))
        return costs.offload(reload->stage, rank);
    if (std::holds_alternative<GradNorm>(action)) return costs.grad_norm();
    return std::nullopt;
}

/// The formula of a kernel that is not a collective. `takes` is the time of one such kernel.
std::vector<Detail> kernel_formula(const models::Kernel& kernel, const scenarios::Gpu& gpu,
                                   Duration takes) {
    const double flops = models::flops(kernel);
    if (const auto* gemm = std::get_if<models::Gemm>(&kernel.work)) {
        const double peak = sim::peak_flops_per_s(gpu, *gemm);
        const std::string slowdown =
            gemm->pace == 1
                ? std::string()
                : filled(said("formula", ", \u00d7 {:.3g} of the best library's time"), gemm->pace);
        return {{said("formula", "formula"),
                 fmt::format("{} = {}{}", flops_formula(*gemm), flops_text(flops), slowdown)},
                {said("formula", "rate"), rate_text(flops, takes, peak)},
                bytes_of(kernel, gpu)};
    }
    if (const auto* attention = std::get_if<models::FlashAttention>(&kernel.work)) {
        const double peak = sim::peak_flops_per_s(gpu, attention->element_bytes);
        return {{said("formula", "formula"),
                 fmt::format("{}: {}", flops_formula(*attention), flops_text(flops))},
                {said("formula", "rate"), rate_text(flops, takes, peak)}};
    }
    const auto& traffic = std::get<models::Traffic>(kernel.work);
    const BytesPerSecond bandwidth = sim::effective_memory_bandwidth(gpu);
    const double bytes = static_cast<double>((traffic.read + traffic.written).count);
    if (traffic.busy / gpu.sms > traffic.pace * bytes / bandwidth.value)
        return {{said("formula", "formula"),
                 filled(said("formula", "{} of one multiprocessor / {} + {}"),
                        time_text(from_seconds(traffic.busy)), gpu.sms,
                        time_text(traffic.launches * gpu.kernel_overhead))}};
    const std::string slowdown =
        traffic.pace == 1 ? std::string() : fmt::format(" \u00d7 {:.3g}", traffic.pace);
    return {{said("formula", "formula"),
             filled(said("formula", "({} read + {} written) / {:.4g} GB/s{} + {}"),
                    size_text(traffic.read), size_text(traffic.written), bandwidth.value / 1e9,
                    slowdown, time_text(traffic.launches * gpu.kernel_overhead))}};
}

/// The work that runs at the same time as a collective, if the framework overlaps them.
std::string overlapped_work(const models::Kernel& kernel, const models::Collective& collective) {
    using Pieces = models::Collective::Pieces;
    if (kernel.beside != models::Beside::Nothing)
        return said("formula", "the shared experts, on a stream of their own");
    if (collective.pieces == Pieces::OfNext)
        return said("formula",
                    "the kernel that follows, computed chunk by chunk as the chunks arrive");
    if (collective.pieces == Pieces::OfPrevious)
        return said("formula",
                    "the kernel before it, computed chunk by chunk as the chunks are sent");
    return collective.hidden_by == 1
               ? said("formula", "the kernel that follows")
               : filled(said("formula", "the {} kernels that follow"), collective.hidden_by);
}

/// The hidden part of a collective, and the work that hides it.
std::string hidden_text(const models::Kernel& kernel, const models::Collective& collective,
                        Duration alone, Duration exposed) {
    const bool can = kernel.beside != models::Beside::Nothing || collective.hidden_by > 0 ||
                     collective.pieces != models::Collective::Pieces::None;
    const Duration hidden = alone - exposed;
    // The sum of several collectives contains the rounding of each.
    if (hidden <= std::max(Duration{1}, alone / 1'000'000))
        return can ? filled(said("formula",
                                 "nothing of it; where the framework overlaps them, {} could be"),
                            overlapped_work(kernel, collective))
                   : said("formula", "by nothing");
    return filled(said("formula", "{} of it, overlapped with {}"), time_text(hidden),
                  overlapped_work(kernel, collective));
}

/// The formula of a collective. `alone` is its time without other work, `exposed` its exposed part.
std::vector<Detail> collective_formula(const models::Kernel& kernel,
                                       const models::Collective& collective, Duration alone,
                                       Duration exposed) {
    return {{said("formula", "formula"),
             filled(said("formula", "{}{} of {} in the {} group: {} alone"),
                    collective.count > 1 ? fmt::format("{} \u00d7 ", collective.count) : "",
                    word_of(collective.kind), size_text(collective.bytes),
                    word_of(collective.group), time_text(alone))},
            {said("formula", "hidden"), hidden_text(kernel, collective, alone, exposed)}};
}

}  // namespace

std::vector<Detail> formula_of(const sim::PricePart& part, const scenarios::Gpu& gpu) {
    return std::visit(
        Overloaded{
            [&](const sim::KernelPart& of) {
                if (const auto* collective = std::get_if<models::Collective>(&of.kernel->work))
                    return collective_formula(*of.kernel, *collective, of.alone,
                                              part.takes / std::max(part.times, 1));
                return kernel_formula(*of.kernel, gpu, of.alone);
            },
            [](const sim::OperatorPart& of) -> std::vector<Detail> {
                return {{said("formula", "formula"),
                         of.measured
                             ? said("formula", "the median of the measurements")
                             : said("formula", "not measured: by the rates of the device")}};
            },
            [](const sim::CostTerm& term) -> std::vector<Detail> {
                return {{said("formula", "formula"), said("formula", std::string(term.formula))}};
            },
        },
        part.from);
}

std::vector<Detail> flow_formula(const sim::CostModel& costs, const Placement& placement,
                                 const Action& action, Rank rank) {
    const auto flow = flow_of(costs, placement, action, rank);
    if (!flow) return {};
    double slowest = 0;
    for (const sim::Link link : flow->links) {
        const double bandwidth = costs.links()[link].value;
        slowest = slowest > 0 ? std::min(slowest, bandwidth) : bandwidth;
    }
    if (slowest <= 0)
        return {{said("formula", "cost"),
                 filled(said("formula", "{} alone"), time_text(flow->latency))}};
    const Duration moving = flow->bytes / BytesPerSecond{slowest};
    return {{said("formula", "cost"),
             filled(said("formula", "{} + {} / {:.4g} GB/s = {} alone"), time_text(flow->latency),
                    size_text(flow->bytes), slowest / 1e9, time_text(flow->latency + moving))}};
}

}  // namespace debubble::gui
