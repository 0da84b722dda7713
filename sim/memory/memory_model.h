#pragma once

#include <string>

#include "base/memory_class.h"
#include "schedule/action.h"

namespace debubble::sim {

/// What a pass holds of its stage's tensors, in exact bytes.
struct PassMemory {
    Bytes held_after;         ///< change from its beginning to its end; negative for a backward
    Bytes stays;              ///< of held_after, what later slices see: offloading leaves it there
    Bytes peak_above;         ///< greatest level inside, above the beginning's
    MemoryByClass at_peak{};  ///< sums to peak_above
    MemoryByClass beside{};   ///< of that, what is gathered or not reduced yet (sharded_units.h)
    std::string op_at_peak;   ///< kernel for which the peak was allocated
};

/// What a rank holds, and what its actions add to that. A model states what holds memory; all else
/// holds none. Microbatches do not differ, their slices may. Every function is pure.
class MemoryModel {
public:
    virtual ~MemoryModel() = default;

    /// Held by the rank all the time, or while the class says: the static level.
    virtual MemoryByClass static_memory(Rank) const { return {}; }
    /// Gradients that have no buffer of their own: from the end of the rank's first B or W on.
    virtual Bytes gradients_in_backward(Rank) const { return {}; }
    virtual PassMemory compute(const Compute&) const { return {}; }
    virtual PassMemory recompute(const Recompute&) const { return {}; }
    virtual PassMemory overlap(const Overlap&) const { return {}; }
    /// A message's buffer, which sender and receiver each hold while it is under way.
    virtual Bytes message(const Message&) const { return {}; }
    /// Gradients that a backward of whatever kind leaves unreduced, until the stage's next one
    /// begins or the step ends.
    virtual MemoryByClass left_unreduced(const Compute&) const { return {}; }
    /// What a gathered stage holds between Unshard and Reshard, beside the rank's own part.
    virtual Bytes unsharded_bytes(Stage) const { return {}; }
    /// Extra bytes of the optimizer step itself.
    virtual Bytes optimizer_transient(Rank) const { return {}; }
};

}  // namespace debubble::sim
