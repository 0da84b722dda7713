#include "sim/cost/kernels/kernel_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace debubble::sim {
namespace {

constexpr std::size_t kNearest = 4;
constexpr double kSame = 1e-4;  ///< of a squared distance, in octaves

double octaves(std::int64_t one, std::int64_t other) {
    const double ratio = static_cast<double>(one) / static_cast<double>(other);
    return std::log2(ratio) * std::log2(ratio);
}

bool sums_over_rows(const models::Gemm& gemm) {
    return gemm.k == gemm.group_rows;
}

bool same_kind(const models::Gemm& one, const models::Gemm& other) {
    return one.operands == other.operands &&
           one.group_rows.has_value() == other.group_rows.has_value() &&
           sums_over_rows(one) == sums_over_rows(other) && one.element_bytes == other.element_bytes;
}

bool same_kind(const models::FlashAttention& one, const models::FlashAttention& other) {
    return one.backward == other.backward && one.narrow == other.narrow &&
           one.causal == other.causal && one.window.has_value() == other.window.has_value() &&
           one.element_bytes == other.element_bytes;
}

double distance(const models::Gemm& one, const models::Gemm& other) {
    // A kernel with accumulation is as far from one without as from one of twice its size.
    const bool both = (one.accumulated > Bytes{}) == (other.accumulated > Bytes{});
    return octaves(one.m, other.m) + octaves(one.n, other.n) + octaves(one.k, other.k) +
           octaves(one.batch, other.batch) + (both ? 0 : 1);
}

double distance(const models::FlashAttention& one, const models::FlashAttention& other) {
    return octaves(one.queries, other.queries) + octaves(one.keys, other.keys) +
           octaves(one.batch * one.heads, other.batch * other.heads) +
           octaves(one.head_dim, other.head_dim) + octaves(one.value_dim(), other.value_dim());
}

template <class Work>
const auto& kernels_of(const scenarios::KernelTable& table) {
    if constexpr (std::is_same_v<Work, models::Gemm>)
        return table.products;
    else
        return table.attentions;
}

}  // namespace

template <class Work>
std::optional<double> measured_over_law(const Work& work, const scenarios::KernelTable& table,
                                        const std::function<double(const Work&)>& law) {
    struct Near {
        double distance = std::numeric_limits<double>::infinity();
        const scenarios::MeasuredKernel<Work>* kernel = nullptr;
    };
    std::array<Near, kNearest> nearest;  // the farthest last
    for (const scenarios::MeasuredKernel<Work>& kernel : kernels_of<Work>(table)) {
        if (!same_kind(kernel.work, work)) continue;
        const Near found{distance(kernel.work, work), &kernel};
        if (found.distance >= nearest.back().distance) continue;
        nearest.back() = found;
        for (std::size_t at = kNearest - 1;
             at > 0 && nearest[at].distance < nearest[at - 1].distance; --at)
            std::swap(nearest[at], nearest[at - 1]);
    }
    double sum = 0;
    double weights = 0;
    for (const Near& near : nearest) {
        if (near.kernel == nullptr) break;
        const double expected = law(near.kernel->work);
        if (expected <= 0) continue;
        const double weight = 1 / (near.distance + kSame);
        sum += weight * std::log(near.kernel->seconds / expected);
        weights += weight;
    }
    if (weights == 0) return std::nullopt;
    return std::exp(sum / weights);
}

template std::optional<double> measured_over_law(
    const models::Gemm& work, const scenarios::KernelTable& table,
    const std::function<double(const models::Gemm&)>& law);
template std::optional<double> measured_over_law(
    const models::FlashAttention& work, const scenarios::KernelTable& table,
    const std::function<double(const models::FlashAttention&)>& law);

}  // namespace debubble::sim
