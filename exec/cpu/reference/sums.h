#pragma once

#include <cstdint>

#include "exec/cpu/reference/vectorise.h"

/// Sums along a row, in an order that vectorises: sixteen lanes that each take every
/// sixteenth term, added up at the end. The order depends on the length alone.
namespace debubble::exec::reference {

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
    constexpr std::int64_t kLanes = 16;
    T lane[kLanes];
    for (T& largest : lane) largest = values[0];
    const std::int64_t whole = count / kLanes * kLanes;
    for (std::int64_t i = 0; i < whole; i += kLanes) {
        for (std::int64_t l = 0; l < kLanes; ++l) {
            lane[l] = values[i + l] > lane[l] ? values[i + l] : lane[l];
        }
    }
    T largest = values[0];
    for (std::int64_t i = whole; i < count; ++i)
        largest = values[i] > largest ? values[i] : largest;
    for (const T part : lane) largest = part > largest ? part : largest;
    return largest;
}

}  // namespace debubble::exec::reference
