#pragma once

#include <cstdint>

#include "exec/cpu/vectorise.h"

/// Sums along a row, in an order that vectorises: sixteen lanes that each take every sixteenth
/// term, added up at the end. The order depends only on the length.
namespace debubble::exec::loops {

/// The sum of term(0) .. term(count - 1).
template <class T, class Term>
DEBUBBLE_INLINE inline T sum_of(std::int64_t count, const Term& term) {
    constexpr std::int64_t kLanes = 16;
    T lane[kLanes] = {};
    const std::int64_t whole = count / kLanes * kLanes;
    for (std::int64_t i = 0; i < whole; i += kLanes) {
        for (std::int64_t l = 0; l < kLanes; ++l) lane[l] += term(i + l);
    }
    for (std::int64_t i = whole; i < count; ++i) lane[i - whole] += term(i);
    T sum{};
    for (const T part : lane) sum += part;
    return sum;
}

/// The largest of `count` > 0 values.
template <class T>
DEBUBBLE_INLINE inline T largest_of(std::int64_t count, const T* values) {
    // Compilers vectorise sums of lanes, but selects of them only if told to.
    constexpr std::int64_t kLanes = 64 / sizeof(T);
    typedef T Lanes __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
    T largest = values[0];
    const std::int64_t whole = count / kLanes * kLanes;
    if (whole > 0) {
        Lanes lanes = *reinterpret_cast<const Lanes*>(values);
        for (std::int64_t i = kLanes; i < whole; i += kLanes) {
            const Lanes next = *reinterpret_cast<const Lanes*>(values + i);
            lanes = next > lanes ? next : lanes;
        }
        for (std::int64_t l = 0; l < kLanes; ++l) largest = lanes[l] > largest ? lanes[l] : largest;
    }
    for (std::int64_t i = whole; i < count; ++i) {
        largest = values[i] > largest ? values[i] : largest;
    }
    return largest;
}

}  // namespace debubble::exec::loops
