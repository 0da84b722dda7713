#include "sim/cost/kernel_cost.h"

#include <algorithm>
#include <array>
#include <limits>

namespace debubble::sim {
namespace {

/// The rate of a tile shape relative to the best one: smaller tiles load more operand bytes per
/// product (cuBLAS and CUTLASS kernels of the A100 generation).
struct Tile {
    std::int64_t rows;
    std::int64_t columns;
    double efficiency;
};
constexpr std::array<Tile, 7> kTiles{{{256, 128, 1.0},
                                      {128, 256, 1.0},
                                      {128, 128, 0.95},
                                      {128, 64, 0.78},
                                      {64, 128, 0.78},
                                      {64, 64, 0.58},
                                      {32, 32, 0.25}}};

/// The rate of heads of up to 64 relative to wider ones, as FlashAttention-2 reaches it on A100
/// (Dao, 2307.08691, figures 4 to 6).
constexpr double kNarrowForward = 0.58 / 0.70;
constexpr double kNarrowBackward = 0.52 / 0.60;
constexpr std::int64_t kAttentionBlock = 128;  ///< queries and keys per block

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

double as_double(std::int64_t n) {
    return static_cast<double>(n);
}

double seconds_to_move(double bytes, const scenarios::Gpu& gpu) {
    return bytes / effective_memory_bandwidth(gpu).value;
}

double gemm_bytes(const models::Gemm& gemm) {
    const double elements = as_double(gemm.m) * as_double(gemm.k) +
                            as_double(gemm.k) * as_double(gemm.n) +
                            as_double(gemm.m) * as_double(gemm.n);
    return as_double(gemm.batch) * elements * gemm.element_bytes +
           as_double(gemm.accumulated.count);
}

}  // namespace

double peak_flops_per_s(const scenarios::Gpu& gpu, int element_bytes) {
    const bool wide = element_bytes > 2;
    return wide || gpu.fp16_flops_per_s <= 0 ? gpu.fp32_flops_per_s : gpu.fp16_flops_per_s;
}

BytesPerSecond effective_memory_bandwidth(const scenarios::Gpu& gpu) {
    return {gpu.memory_bandwidth.value * gpu.memory_efficiency};
}

Duration kernel_time(const models::Gemm& gemm, const scenarios::Gpu& gpu) {
    const double moving = seconds_to_move(gemm_bytes(gemm), gpu);
    const double peak = peak_flops_per_s(gpu, gemm.element_bytes) * gpu.gemm_efficiency / gpu.sms;
    double computing = peak > 0 ? std::numeric_limits<double>::infinity() : 0;
    for (const Tile& tile : kTiles) {
        const std::int64_t tiles =
            gemm.batch * divide_up(gemm.m, tile.rows) * divide_up(gemm.n, tile.columns);
        const double tile_flops = 2.0 * as_double(tile.rows * tile.columns) * as_double(gemm.k);
        if (peak > 0)
            computing = std::min(computing, as_double(divide_up(tiles, gpu.sms)) * tile_flops /
                                                (peak * tile.efficiency));
    }
    return from_seconds(std::max(computing, moving)) + gpu.gemm_overhead;
}

Duration kernel_time(const models::FlashAttention& attention, const scenarios::Gpu& gpu) {
    const double queries = as_double(attention.queries);
    const double keys = as_double(attention.keys);
    // Blocks on the diagonal are computed whole and masked, and so are those at a window's edge.
    const bool windowed = attention.window > 0 && attention.window < attention.keys;
    const double masked = queries * as_double(kAttentionBlock) / 2 * (windowed ? 2 : 1);
    const double pairs = models::pairs(attention) + (attention.causal ? masked : 0);
    const double heads = as_double(attention.batch * attention.heads);
    const double key_width = as_double(attention.head_dim);
    const double value_width = as_double(attention.value_dim());
    const double columns =
        attention.backward ? 3 * key_width + 2 * value_width : key_width + value_width;
    const double flops = 2 * heads * std::min(pairs, queries * keys) * columns;
    const bool narrow = attention.head_dim <= 64;
    const double of_peak = attention.backward
                               ? gpu.attention_backward_efficiency * (narrow ? kNarrowBackward : 1)
                               : gpu.attention_forward_efficiency * (narrow ? kNarrowForward : 1);
    const std::int64_t blocks =
        attention.batch * attention.heads *
        divide_up(attention.backward ? attention.keys : attention.queries, kAttentionBlock);
    const double filled = std::min(1.0, as_double(blocks) / gpu.sms);
    const double rate = peak_flops_per_s(gpu, attention.element_bytes) * of_peak * filled;
    const double q_rows = heads * queries * attention.element_bytes;
    const double kv_rows =
        as_double(attention.batch * attention.kv_heads) * keys * attention.element_bytes;
    // The forward moves q, o and k, v; the backward reads them with dO and writes dQ (fp32 and
    // narrow), dK, dV.
    const double bytes = attention.backward ? q_rows * (5 * key_width + 2 * value_width) +
                                                  2 * kv_rows * (key_width + value_width)
                                            : (q_rows + kv_rows) * (key_width + value_width);
    const double computing = rate > 0 ? flops / rate : 0;
    return from_seconds(std::max(computing, seconds_to_move(bytes, gpu))) + gpu.gemm_overhead;
}

Duration kernel_time(const models::Traffic& traffic, const scenarios::Gpu& gpu) {
    const double bytes = as_double(traffic.read.count) + as_double(traffic.written.count);
    return from_seconds(seconds_to_move(bytes, gpu)) + gpu.kernel_overhead;
}

}  // namespace debubble::sim
