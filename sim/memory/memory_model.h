#pragma once

#include <string>

#include "base/purposes.h"
#include "schedule/action.h"

namespace debubble::sim {

/// The memory that a pass holds of its stage's tensors, in exact bytes.
struct PassMemory {
    Bytes held_after;           ///< change from its beginning to its end; negative for a backward
    Bytes stays;                ///< part of held_after that later slices read: offloading leaves it
                                ///< on the device
    Bytes peak_above;           ///< greatest level inside, relative to the beginning
    MemoryByClass at_peak{};    ///< sums to peak_above
    MemoryByClass unsharded{};  ///< part of at_peak that is gathered or not reduced yet
                                ///< (sharded_units.h)
    std::string op_at_peak;     ///< kernel for which the peak was allocated
};

/// The memory that a rank holds, and the memory that its actions add. A model states what holds
/// memory; everything else holds none. Microbatches do not differ unless per_micro_batch() says so,
/// and then in their passes alone; slices may. Every function is pure.
class MemoryModel {
public:
    virtual ~MemoryModel() = default;

    virtual bool per_micro_batch() const { return false; }
    /// The memory that the rank holds throughout, or while the class applies: the static level.
    virtual MemoryByClass static_memory(Rank) const { return {}; }
    /// The bytes of gradients without a buffer of their own, held from the end of the rank's first
    /// B or W on.
    virtual Bytes gradients_in_backward(Rank) const { return {}; }
    virtual PassMemory compute(const Compute&) const { return {}; }
    virtual PassMemory recompute(const Recompute&) const { return {}; }
    virtual PassMemory overlap(const Overlap&) const { return {}; }
    /// The bytes of a message's buffer, which sender and receiver each hold while it is under way.
    virtual Bytes message(const Message&) const { return {}; }
    /// Buffers for all messages that a stage receives exist from the start, and those of what it
    /// sends forward until the backward.
    virtual bool keeps_messages() const { return false; }
    /// The gradients that a backward of any kind leaves unreduced, until the stage's next one
    /// begins or the step ends.
    virtual MemoryByClass left_unreduced(const Compute&) const { return {}; }
    /// The memory that a gathered stage holds between Unshard and Reshard, in addition to the
    /// rank's own part.
    virtual Bytes unsharded_bytes(Stage) const { return {}; }
    /// The extra bytes of the optimizer step itself.
    virtual Bytes optimizer_transient(Rank) const { return {}; }
};

}  // namespace debubble::sim
