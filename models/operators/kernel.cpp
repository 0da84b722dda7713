#include "models/operators/kernel.h"

#include <variant>

#include "base/overloaded.h"

namespace debubble::models {

Mask mask_of(const FlashAttention& attention) {
    if (!attention.causal) return FullMask{};
    if (attention.chunk) return ChunkMask{*attention.chunk};
    if (attention.window) return WindowMask{*attention.window};
    return CausalMask{};
}

void set_mask(FlashAttention& attention, const Mask& mask) {
    attention.causal = true;
    attention.window.reset();
    attention.chunk.reset();
    std::visit(Overloaded{
                   [&](const FullMask&) { attention.causal = false; },
                   [](const CausalMask&) {},
                   [&](const WindowMask& window) { attention.window = window.keys; },
                   [&](const ChunkMask& chunk) { attention.chunk = chunk.tokens; },
                   [&](const TopKMask& best) { attention.window = best.keys; },
               },
               mask);
}

double pairs(const FlashAttention& attention) {
    return pairs(mask_of(attention), static_cast<double>(attention.queries),
                 static_cast<double>(attention.keys), Diagonal::Half);
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
