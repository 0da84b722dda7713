#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "schedule/action.h"
#include "trace/profile/passes/anchor_items.h"

namespace debubble::profile {

/// A pass as a run of items of its step; all numbers are indices of StepItems::items.
struct FoundPass {
    Pass kind{};
    /// The first and the last attention; for a BackwardWeight, the first and the last GEMM.
    std::size_t first_anchor = 0;
    std::size_t last_anchor = 0;
    std::size_t first = 0;
    std::size_t last = 0;

    bool forward() const { return kind == Pass::Forward; }
};

inline std::int64_t last_end(const StepItems& step, const FoundPass& pass) {
    std::int64_t end = 0;
    for (std::size_t i = pass.first; i <= pass.last; ++i) end = std::max(end, step.items[i].end);
    return end;
}

}  // namespace debubble::profile
