#pragma once

#include "exec/cuda/kernels/operands.h"

/// Reductions over the values of several ranks on one GPU.
namespace debubble::exec::cuda {

inline constexpr int kMaxParties = 16;

struct Parties {
    const void* from[kMaxParties] = {};
    void* to[kMaxParties] = {};
    int sources = 0;
    int targets = 0;
};

/// Every target becomes the sum, or the maximum, of the `n` elements of all sources, in their
/// order: 16-bit types in fp32 with one rounding, integers modulo 2^32. A NaN wins. A target may be
/// a source. The bits are those of exec/comm/local/meeting.h.
void reduce(Stream stream, std::int64_t n, Type type, bool largest, const Parties& parties);

}  // namespace debubble::exec::cuda
