#include "sim/cost/kernels/kernel_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/execution/laws.h"

namespace debubble::sim {
namespace {

using models::laws;

/// The rate of attention kernels relative to FlashAttention-2 where a device's file has no rate for
/// them.
double relative_rate(models::FusedAttention kernel) {
    using models::FusedAttention;
    switch (kernel) {
        case FusedAttention::Flash1:
        case FusedAttention::SdpaEfficient:
        case FusedAttention::Triton: return laws().older_attention;
        case FusedAttention::Cudnn:
        case FusedAttention::Cudnn2024:
        case FusedAttention::ChosenKeys:
        case FusedAttention::Flash2:
        case FusedAttention::Flash3: break;
    }
    return 1;
}

double as_double(std::int64_t n) {
    return static_cast<double>(n);
}

double seconds_to_move(double bytes, const scenarios::Gpu& gpu) {
    return bytes / effective_memory_bandwidth(gpu).value;
}

double gemm_bytes(const models::Gemm& gemm) {
    return as_double(models::bytes_of(gemm)) + as_double(gemm.accumulated.count);
}

}  // namespace

double peak_flops_per_s(const scenarios::Gpu& gpu, int element_bytes) {
    const bool wide = element_bytes > 2;
    const double fp32 = gpu.fp32_flops_per_s.value_or(0);
    return wide ? fp32 : gpu.fp16_flops_per_s.value_or(fp32);
}

double peak_flops_per_s(const scenarios::Gpu& gpu, const models::Gemm& gemm) {
    switch (gemm.operands) {
        case models::Narrow::None: return peak_flops_per_s(gpu, gemm.element_bytes);
        case models::Narrow::Fp8:
        case models::Narrow::Fp8Blockwise:
        case models::Narrow::MxFp8: return gpu.fp8_flops_per_s.value_or(0);
        case models::Narrow::NvFp4: return gpu.fp4_flops_per_s.value_or(0);
    }
    return 0;
}

namespace {

/// The rate that very large GEMMs reach for some milliseconds.
double burst_flops_per_s(const scenarios::Gpu& gpu, const models::Gemm& gemm) {
    const double peak = peak_flops_per_s(gpu, gemm);
    switch (gemm.operands) {
        case models::Narrow::None: return peak * gpu.gemm_efficiency;
        case models::Narrow::Fp8: return peak * gpu.fp8_gemm_efficiency;
        case models::Narrow::Fp8Blockwise:
        case models::Narrow::MxFp8:
            return peak * gpu.fp8_gemm_efficiency *
                   (gpu.fp4_flops_per_s ? laws().fp8_scaled_inside : laws().fp8_scaled_beside);
        case models::Narrow::NvFp4: return peak * gpu.fp4_gemm_efficiency;
    }
    return 0;
}

}  // namespace

double reached_flops_per_s(const scenarios::Gpu& gpu, const models::Gemm& gemm) {
    return burst_flops_per_s(gpu, gemm) * gpu.kept_clock(gemm.operands);
}

BytesPerSecond effective_memory_bandwidth(const scenarios::Gpu& gpu) {
    return {gpu.memory_bandwidth.value * gpu.memory_efficiency};
}

namespace {

/// In 4 bits the prologue and epilogue of a tile are part of the share of the peak, which was
/// measured on a layer, as on a processor.
double depth_of(models::Narrow operands, const scenarios::Gpu& gpu) {
    if (gpu.threads) return 0;
    if (operands == models::Narrow::None) return gpu.gemm_depth;
    return operands == models::Narrow::NvFp4 ? 0 : gpu.fp8_gemm_depth;
}

/// Seconds of a kernel by the device's rates, at a fraction of the clock of short runs.
double by_rates(const models::Gemm& gemm, const scenarios::Gpu& gpu, double clock) {
    const double moving = seconds_to_move(gemm_bytes(gemm), gpu);
    const double peak = burst_flops_per_s(gpu, gemm) * clock / gpu.sms;
    const double depth = depth_of(gemm.operands, gpu);
    const double fill = gpu.threads ? 0 : gpu.gemm_fill;
    double computing = peak > 0 ? std::numeric_limits<double>::infinity() : 0;
    for (const models::GemmTile& tile : laws().gemm_tiles) {
        const double tiles = as_double(gemm.batch) * std::ceil(as_double(gemm.m) / tile.rows) *
                             std::ceil(as_double(gemm.n) / tile.columns);
        const double waves = tiles / gpu.sms;
        const double rounds = std::ceil(waves) + fill * (waves - std::ceil(waves));
        const double tile_flops = 2.0 * (tile.rows * tile.columns) * (as_double(gemm.k) + depth);
        if (peak > 0) computing = std::min(computing, rounds * tile_flops / (peak * tile.rate));
    }
    // Many GEMMs of matrices smaller than a tile do not use the matrix units.
    constexpr std::int64_t kSmall = 16;
    if (!gpu.threads && gemm.k < kSmall && std::min(gemm.m, gemm.n) < kSmall)
        computing =
            std::min(computing, 2.0 * as_double(gemm.batch * gemm.m) * as_double(gemm.n * gemm.k) /
                                    (gpu.fp32_flops_per_s.value_or(0) * clock));
    if (peak > 0 && gemm.group_rows) {
        const bool summed = gemm.k == gemm.group_rows;
        const double rows = summed ? laws().expert_rows_summed : laws().expert_rows;
        const double flops = 2.0 * as_double(gemm.batch * gemm.m) * as_double(gemm.n * gemm.k);
        computing += flops / as_double(*gemm.group_rows) * rows / (peak * gpu.sms);
    }
    return std::max(computing, moving);
}

/// The share for a length below the shortest of two known ones: a kernel whose prologue and
/// epilogue take the time of n0 tokens reaches n / (n + n0) of its best.
double share_below(std::pair<double, double> shortest, std::pair<double, double> next,
                   double tokens) {
    const auto [length, share] = shortest;
    const double ratio = share / next.second;
    const double beyond = ratio - length / next.first;
    if (beyond <= 0) return share * tokens / length;
    const double begin = std::max(0.0, length * (1 - ratio) / beyond);
    return share * (length + begin) / length * tokens / (tokens + begin);
}

/// Linear in the logarithm of the length, and constant above the longest known one.
double share_at(const std::map<std::int64_t, double>& shares, double tokens) {
    const auto above = shares.lower_bound(static_cast<std::int64_t>(std::ceil(tokens)));
    if (above == shares.end()) return std::prev(above)->second;
    if (above == shares.begin())
        return shares.size() < 2 ? above->second : share_below(*above, *std::next(above), tokens);
    const auto below = std::prev(above);
    const double way = std::log(tokens / as_double(below->first)) /
                       std::log(as_double(above->first) / as_double(below->first));
    return below->second + way * (above->second - below->second);
}

/// The share of the fp16 peak. Kernels with known rates include the cost of the blocks on the
/// diagonal in these rates.
struct AttentionShare {
    double of_peak = 0;
    bool with_diagonal = false;
};
/// For this kernel; else for the same in 16 bits, or for later releases of the library.
auto rates_of(const models::FlashAttention& attention, const scenarios::Gpu& gpu) {
    using models::FusedAttention;
    const auto& all = gpu.attention_rates;
    auto known = all.find({attention.kernel, attention.narrow});
    if (known == all.end()) known = all.find({attention.kernel, false});
    if (known == all.end() && attention.kernel == FusedAttention::ChosenKeys)
        return all.find({FusedAttention::Flash2, false});
    if (known != all.end() || attention.kernel != FusedAttention::Cudnn2024) return known;
    return all.find({FusedAttention::Cudnn, false});
}

AttentionShare attention_share(const models::FlashAttention& attention, const scenarios::Gpu& gpu) {
    const double by_width = attention.head_dim <= 64 ? gpu.attention_narrow_heads : 1;
    const auto known = rates_of(attention, gpu);
    if (known != gpu.attention_rates.end()) {
        const scenarios::AttentionRates& rates = known->second;
        const auto& shares = attention.backward ? rates.backward : rates.forward;
        // A query sees no more keys than those of its window, however long the sequence.
        const std::int64_t seen =
            std::min(attention.window.value_or(attention.keys), attention.keys);
        return {by_width * share_at(shares, as_double(seen)), true};
    }
    const double share =
        attention.backward ? gpu.attention_backward_efficiency : gpu.attention_forward_efficiency;
    return {by_width * share * relative_rate(attention.kernel), false};
}

double by_rates(const models::FlashAttention& attention, const scenarios::Gpu& gpu, double clock) {
    const AttentionShare share = attention_share(attention, gpu);
    const double queries = as_double(attention.queries);
    const double keys = as_double(attention.keys);
    const double block = laws().attention_block;
    // Blocks on the diagonal are computed whole and masked, and so are blocks at a window's edge.
    const bool windowed = attention.window && *attention.window < attention.keys;
    const double masked = queries * block / 2 * (windowed ? 2 : 1);
    const bool diagonal = attention.causal && !share.with_diagonal;
    const double pairs = models::pairs(attention) + (diagonal ? masked : 0);
    const double heads = as_double(attention.batch * attention.heads);
    const double key_width = as_double(attention.head_dim);
    const double value_width = as_double(attention.value_dim());
    const double columns =
        attention.backward ? 3 * key_width + 2 * value_width : key_width + value_width;
    const double flops = 2 * heads * std::min(pairs, queries * keys) * columns;
    // One multiprocessor computes a block of rows, and the longest block bounds the kernel: of
    // causal attention the last queries, or the first keys, which all queries see.
    const double rows = attention.backward ? keys : queries;
    const double all = attention.backward ? queries : keys;
    const double most = windowed ? std::min(all, as_double(*attention.window) + block) : all;
    const double longest = 2 * std::min(rows, block) * most * columns;
    const double rate = peak_flops_per_s(gpu, attention.element_bytes) * clock * share.of_peak;
    const double q_rows = heads * queries * attention.element_bytes;
    const double kv_rows =
        as_double(attention.batch * attention.kv_heads) * keys * attention.element_bytes;
    // The forward moves q, o and k, v; the backward reads them with dO and writes dQ (fp32 and
    // narrow), dK, dV.
    const double bytes = attention.backward ? q_rows * (5 * key_width + 2 * value_width) +
                                                  2 * kv_rows * (key_width + value_width)
                                            : (q_rows + kv_rows) * (key_width + value_width);
    const double computing = rate > 0 ? std::max(flops, longest * gpu.sms) / rate : 0;
    return std::max(computing, seconds_to_move(bytes, gpu));
}

models::Narrow type_of(const models::Gemm& gemm) {
    return gemm.operands;
}
models::Narrow type_of(const models::FlashAttention& attention) {
    return attention.narrow ? models::Narrow::Fp8 : models::Narrow::None;
}

/// A measured kernel as the framework of `work` would launch it.
models::Gemm by_framework_of(const models::Gemm& /*work*/, const models::Gemm& measured) {
    return measured;
}
models::FlashAttention by_framework_of(const models::FlashAttention& work,
                                       models::FlashAttention measured) {
    measured.kernel = work.kernel;
    return measured;
}

/// Seconds beyond gemm_overhead, from the measured kernels of such devices where there are any,
/// else from the rates.
template <class Work>
double seconds_of(const Work& work, const scenarios::Gpu& gpu) {
    const models::Narrow type = type_of(work);
    if (!gpu.kernels) return by_rates(work, gpu, gpu.kept_clock(type));
    const double overhead = seconds(gpu.gemm_overhead);  // included in a measured time
    const auto by_law = [&](const Work& measured) {
        return overhead + by_rates(by_framework_of(work, measured), gpu, 1);
    };
    const auto ratio = measured_over_law<Work>(work, *gpu.kernels, by_law);
    if (!ratio) return by_rates(work, gpu, gpu.kept_clock(type));
    const double clock = gpu.kernels->burst ? gpu.kept_clock(type) : gpu.clock_of_sustained();
    return *ratio * (overhead + by_rates(work, gpu, clock)) - overhead;
}

template <class Work>
double pace_of(const Work& work, const scenarios::Gpu& gpu) {
    return work.recurrent ? work.pace / gpu.recurrence_efficiency : work.pace;
}

}  // namespace

Duration kernel_time(const models::Gemm& gemm, const scenarios::Gpu& gpu) {
    return from_seconds(pace_of(gemm, gpu) * seconds_of(gemm, gpu)) + gpu.gemm_overhead;
}

Duration kernel_time(const models::FlashAttention& attention, const scenarios::Gpu& gpu) {
    return from_seconds(seconds_of(attention, gpu)) + gpu.gemm_overhead;
}

Duration kernel_time(const models::Traffic& traffic, const scenarios::Gpu& gpu) {
    const double bytes = as_double(traffic.read.count) + as_double(traffic.written.count);
    const double moving = pace_of(traffic, gpu) * seconds_to_move(bytes, gpu);
    return from_seconds(std::max(moving, traffic.busy / gpu.sms)) +
           traffic.launches * gpu.kernel_overhead;
}

}  // namespace debubble::sim
