#include "exec/program/calibrate/device_rates.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "exec/program/calibrate/statistics.h"
#include "scenarios/cluster/reader.h"
#include "text/shipped_files.h"

namespace debubble::exec {

namespace {

/// Rows of a block, which the cost model counts whole on the diagonal.
constexpr std::int64_t kDiagonalBlock = 128;
constexpr double kShortest = 1e-18;  ///< seconds per unit, so that no rate is infinite

template <class Work>
const Work* work_of(const KernelTiming& timing) {
    return std::get_if<Work>(&timing.kernel.work);
}

std::vector<Point> products(std::span<const KernelTiming> timings, int element_bytes) {
    std::vector<Point> points;
    for (const KernelTiming& timing : timings)
        if (const auto* gemm = work_of<models::Gemm>(timing);
            gemm && gemm->element_bytes == element_bytes)
            points.push_back({models::flops(timing.kernel), timing.seconds});
    return points;
}

/// The median of the rates of the three longest sequences.
double attention_rate(std::span<const KernelTiming> timings, bool backward, double overhead) {
    std::vector<double> rates;
    for (const KernelTiming& timing : timings) {
        const auto* flash = work_of<models::FlashAttention>(timing);
        if (!flash || flash->backward != backward) continue;
        const double diagonal =
            1 + static_cast<double>(kDiagonalBlock) / static_cast<double>(flash->keys);
        const double computing = std::max(timing.seconds - overhead, timing.seconds / 2);
        rates.push_back(models::flops(timing.kernel) * diagonal / computing);
    }
    if (rates.size() > 3) rates.erase(rates.begin(), rates.end() - 3);
    return median(std::move(rates));
}

/// The smallest call of each kernel, which is all overhead, and the largest two, which fit no
/// cache.
std::vector<Point> traffic(std::span<const KernelTiming> timings) {
    std::vector<Point> points;
    for (const char* kernel : {"sum", "gelu", "norm"}) {
        std::vector<Point> of_kernel;
        for (const KernelTiming& timing : timings)
            if (timing.kernel.name == kernel)
                of_kernel.push_back(
                    {static_cast<double>(models::traffic(timing.kernel).count), timing.seconds});
        for (std::size_t i = 0; i < of_kernel.size(); ++i)
            if (i == 0 || i + 2 >= of_kernel.size()) points.push_back(of_kernel[i]);
    }
    return points;
}

/// Whether a word has both letters and digits, such as "H200", "A100" or "SXM4".
bool names_a_card(std::string_view word) {
    return std::isalpha(static_cast<unsigned char>(word.front())) &&
           std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c); }) &&
           !word.starts_with("SXM") && !word.starts_with("HBM");
}

std::vector<std::string> cards_in(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    const auto end_word = [&] {
        if (!word.empty() && names_a_card(word)) words.push_back(word);
        word.clear();
    };
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            word += c;
        else
            end_word();
    }
    end_word();
    return words;
}

double share_of(double rate, double peak) {
    return std::clamp(std::round(rate / peak * 1e4) / 1e4, 0.001, 1.0);
}

}  // namespace

DeviceRates rates_of(std::span<const KernelTiming> timings) {
    DeviceRates rates;
    const Line narrow = fit_line(products(timings, 2));
    rates.product_flops_per_s = 1 / std::max(narrow.beta, kShortest);
    rates.product_overhead = from_seconds(narrow.alpha);
    const Point wide = products(timings, 4).back();
    rates.fp32_flops_per_s = wide.x / std::max(wide.y - narrow.alpha, wide.y / 2);
    rates.attention_forward_flops_per_s = attention_rate(timings, false, narrow.alpha);
    rates.attention_backward_flops_per_s = attention_rate(timings, true, narrow.alpha);
    const Line bytes = fit_line(traffic(timings));
    rates.memory = {1 / std::max(bytes.beta, kShortest)};
    rates.kernel_overhead = from_seconds(bytes.alpha);
    return rates;
}

std::string curve_text(std::span<const KernelTiming> timings, std::string_view kernel) {
    std::string text;
    for (const KernelTiming& timing : timings) {
        if (timing.kernel.name != kernel) continue;
        const double flops = models::flops(timing.kernel);
        const auto bytes = static_cast<double>(models::traffic(timing.kernel).count);
        const auto* flash = work_of<models::FlashAttention>(timing);
        const auto* gemm = work_of<models::Gemm>(timing);
        if (!text.empty()) text += ", ";
        if (flash)
            text += fmt::format("{} tokens {} {:.3g} TFLOP/s", flash->keys,
                                flash->backward ? "backward" : "forward",
                                flops / timing.seconds * 1e-12);
        else if (gemm)
            text += fmt::format("{} deep in {} bits {:.3g} TFLOP/s", gemm->k,
                                8 * gemm->element_bytes, flops / timing.seconds * 1e-12);
        else
            text +=
                fmt::format("{:.3g} MB {:.3g} GB/s", bytes * 1e-6, bytes / timing.seconds * 1e-9);
    }
    return text;
}

std::optional<scenarios::Cluster> shipped_cluster_of(std::string_view device, Bytes memory) {
    const std::vector<std::string> cards = cards_in(device);
    for (const std::string& name : text::shipped_names("scenarios/clusters")) {
        scenarios::Cluster cluster = scenarios::read_cluster(name);
        const std::vector<std::string> theirs = cards_in(cluster.gpu.name);
        const bool same = std::ranges::any_of(
            theirs, [&](const std::string& card) { return std::ranges::count(cards, card) > 0; });
        // The A100 with 40 GB and that with 80 GB are two cards.
        const double size =
            static_cast<double>(memory.count) /
            static_cast<double>(std::max<std::int64_t>(1, cluster.gpu.memory.count));
        if (same && size > 0.85 && size < 1.15) return cluster;
    }
    return {};
}

void put_rates(const DeviceFacts& facts, const DeviceRates& rates,
               const std::optional<scenarios::Cluster>& sheet, scenarios::Gpu& gpu) {
    const double part = 1.0 / facts.ranks;
    const auto peak = [&](std::optional<double> scenarios::Gpu::*of, double measured) {
        return sheet ? (sheet->gpu.*of).value_or(0) * part : measured;
    };
    const double fp16 = peak(&scenarios::Gpu::fp16_flops_per_s, rates.product_flops_per_s);
    const double fp32 = peak(&scenarios::Gpu::fp32_flops_per_s, rates.fp32_flops_per_s);
    if (fp16 > 0) gpu.fp16_flops_per_s = fp16;
    if (fp32 > 0) gpu.fp32_flops_per_s = fp32;
    gpu.memory_bandwidth = {sheet ? sheet->gpu.memory_bandwidth.value * part : rates.memory.value};
    gpu.gemm_efficiency = share_of(rates.product_flops_per_s, fp16);
    gpu.attention_forward_efficiency = share_of(rates.attention_forward_flops_per_s, fp16);
    gpu.attention_backward_efficiency = share_of(rates.attention_backward_flops_per_s, fp16);
    gpu.memory_efficiency = share_of(rates.memory.value, gpu.memory_bandwidth.value);
    gpu.gemm_fill = gpu.gemm_depth = 0;  // whole waves were timed, whose line has all else
    gpu.gemm_overhead = rates.product_overhead;
    gpu.kernel_overhead = rates.kernel_overhead;
    gpu.sms = facts.multiprocessors;
    gpu.bf16 = facts.bf16;
    gpu.memory = Bytes{facts.memory.count / facts.ranks};
}

}  // namespace debubble::exec
