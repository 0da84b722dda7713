#include "models/operators/kernel.h"

#include <cmath>

#include "base/overloaded.h"

namespace debubble::models {

namespace {

/// The sum over positions [0, position) of the keys seen, if positions are continuous: a chunk's
/// queries see half of it.
double pairs_before(double position, double chunk) {
    const double whole = std::floor(position / chunk);
    const double rest = position - whole * chunk;
    return whole * chunk * chunk / 2 + rest * rest / 2;
}

double pairs_in_chunks(const FlashAttention& attention) {
    const auto keys = static_cast<double>(attention.keys);
    const auto chunk = static_cast<double>(attention.chunk);
    return pairs_before(keys, chunk) -
           pairs_before(keys - static_cast<double>(attention.queries), chunk);
}

}  // namespace

/// A causal pass has its queries at the end of its keys: query at position p sees the last
/// min(p, window) keys, summed over the positions as if they were continuous.
double pairs(const FlashAttention& attention) {
    const auto queries = static_cast<double>(attention.queries);
    const auto keys = static_cast<double>(attention.keys);
    if (!attention.causal) return queries * keys;
    if (attention.chunk > 0) return pairs_in_chunks(attention);
    if (attention.window == 0 || attention.window >= attention.keys)
        return queries * keys - queries * queries / 2;
    const auto window = static_cast<double>(attention.window);
    const double before = keys - queries;
    if (before >= window) return queries * window;
    return (window * window - before * before) / 2 + (keys - window) * window;
}

double flops(const Kernel& kernel) {
    return std::visit(
        Overloaded{
            [](const Gemm& gemm) {
                return 2.0 * static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) *
                       static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
            },
            [](const FlashAttention& attention) {
                const auto key = static_cast<double>(attention.head_dim);
                const auto value = static_cast<double>(attention.value_dim());
                const double columns = attention.backward ? 3 * key + 2 * value : key + value;
                return 2.0 * static_cast<double>(attention.batch) *
                       static_cast<double>(attention.heads) * pairs(attention) * columns;
            },
            [](const Traffic&) { return 0.0; },
            [](const Collective&) { return 0.0; },
        },
        kernel.work);
}

std::int64_t bytes_of(const Gemm& gemm) {
    const std::int64_t operands = gemm.batch * (gemm.m * gemm.k + gemm.k * gemm.n);
    const std::int64_t result = gemm.batch * gemm.m * gemm.n * gemm.element_bytes;
    return result + (gemm.operands == Narrow::None ? operands * gemm.element_bytes
                                                   : narrow_bytes(gemm.operands, operands));
}

Bytes traffic(const Kernel& kernel) {
    return std::visit(Overloaded{
                          [](const Gemm& gemm) { return Bytes{bytes_of(gemm)} + gemm.accumulated; },
                          [](const FlashAttention& attention) {
                              // q and out, k and v; the backward reads those and dout and writes
                              // dq, dk, dv
                              const std::int64_t queries = attention.heads * attention.queries;
                              const std::int64_t keys = attention.kv_heads * attention.keys;
                              const std::int64_t times = attention.backward ? 2 : 1;
                              const std::int64_t columns =
                                  attention.head_dim + attention.value_dim();
                              return Bytes{attention.batch * times * columns * (queries + keys) *
                                           attention.element_bytes};
                          },
                          [](const Traffic& moved) { return moved.read + moved.written; },
                          [](const Collective&) { return Bytes{}; },
                      },
                      kernel.work);
}

}  // namespace debubble::models
