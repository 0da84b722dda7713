#include "models/kernel.h"

#include "base/overloaded.h"

namespace debubble::models {

namespace {

/// Query-key pairs of one head. A causal pass has its queries at the end of its
/// keys, so only the last triangle is cut.
double pairs(const FlashAttention& attention) {
    const auto queries = static_cast<double>(attention.queries);
    const auto keys = static_cast<double>(attention.keys);
    return attention.causal ? queries * keys - queries * queries / 2 : queries * keys;
}

}  // namespace

double flops(const Kernel& kernel) {
    return std::visit(
        Overloaded{
            [](const Gemm& gemm) {
                return 2.0 * static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) *
                       static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
            },
            [](const FlashAttention& attention) {
                const double forward = 4.0 * static_cast<double>(attention.batch) *
                                       static_cast<double>(attention.heads) * pairs(attention) *
                                       static_cast<double>(attention.head_dim);
                return attention.backward ? 2.5 * forward : forward;
            },
            [](const Traffic&) { return 0.0; },
            [](const Collective&) { return 0.0; },
        },
        kernel.work);
}

Bytes traffic(const Kernel& kernel) {
    return std::visit(
        Overloaded{
            [](const Gemm& gemm) {
                const std::int64_t elements =
                    gemm.batch * (gemm.m * gemm.k + gemm.k * gemm.n + gemm.m * gemm.n);
                return Bytes{elements * gemm.element_bytes} + gemm.accumulated;
            },
            [](const FlashAttention& attention) {
                // q and out, k and v; the backward reads those and dout and writes dq, dk, dv
                const std::int64_t queries = attention.heads * attention.queries;
                const std::int64_t keys = attention.kv_heads * attention.keys;
                const std::int64_t elements =
                    attention.backward ? 4 * queries + 4 * keys : 2 * queries + 2 * keys;
                return Bytes{attention.batch * attention.head_dim * elements *
                             attention.element_bytes};
            },
            [](const Traffic& moved) { return moved.read + moved.written; },
            [](const Collective&) { return Bytes{}; },
        },
        kernel.work);
}

}  // namespace debubble::models
