#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/memory_class.h"
#include "base/units.h"
#include "schedule/schedule.h"
#include "sim/network/flow.h"

/// What an action takes when nothing stands in its way. Waiting, contention
/// and overlap are the simulator's business, not the cost model's.
namespace debubble::sim {

/// One pass of one stage over one microbatch (slice).
struct ComputeCost {
    Duration duration{};
    Duration exposed{};  ///< communication in it that nothing hides; part of duration
    Duration host{};     ///< what the host's launching adds to the device's time; part of duration
    Bytes held_after;    ///< change of live activations at its end; negative for a backward
    Bytes stays;         ///< of held_after, what later slices see: offloading leaves it there
    Bytes peak_above;    ///< greatest live memory inside, above what was live before it
    MemoryByClass at_peak{};           ///< peak_above by class; sums to it
    std::string_view op_at_peak;       ///< operator that allocated last; outlives the model
    std::array<InnerFlow, 3> flows{};  ///< those of no bytes come last

    bool communicates() const { return flows[0].bytes.count > 0; }
};

class CostModel {
public:
    virtual ~CostModel() = default;

    /// Do microbatches differ in cost? If not, one stands for all.
    virtual bool per_micro_batch() const { return false; }

    /// Called once per action before the run; need not be fast, must be pure.
    virtual ComputeCost compute(const Compute& action, Rank rank) const = 0;
    virtual ComputeCost recompute(const Recompute& action, Rank rank) const = 0;
    /// Both at once: the sum where nothing is known to be gained.
    virtual ComputeCost overlap(const Overlap& action, Rank rank) const = 0;
    virtual Flow transfer(const Message& message, Rank from, Rank to) const = 0;
    /// What an Unshard, or a ReduceGrad, moves while no compute hides it; all the rest is hidden.
    virtual Flow unshard(Stage stage, Rank rank) const = 0;
    virtual Flow reduce_grad(Stage stage, std::span<const Rank> holders) const = 0;
    /// Beside the stage's first forward of a step, of the Unshard that ended the step before.
    virtual HiddenPart unshard_hidden(Stage, Rank) const { return {}; }
    /// Beside the backward before a ReduceGrad.
    virtual HiddenPart reduce_grad_hidden(Stage, std::span<const Rank>) const { return {}; }
    virtual Flow tied_grad(Stage stage, std::span<const Rank> holders) const = 0;
    virtual Flow grad_norm() const = 0;
    virtual Flow offload(Stage stage, Rank rank) const = 0;  ///< reload costs the same
    virtual Duration optimizer_step(Rank rank) const = 0;

    /// Bandwidth of every link.
    virtual std::span<const BytesPerSecond> links() const = 0;
    /// Held by the rank all the time, or while the class says: the static level.
    virtual MemoryByClass static_memory(Rank rank) const = 0;
    /// Gradients that have no buffer of their own: from the end of the rank's first B or W on.
    virtual Bytes gradients_in_backward(Rank) const { return {}; }
    /// Gradients that a backward of whatever kind leaves unreduced, until the stage's next one
    /// begins or the step ends.
    virtual MemoryByClass left_unreduced(const Compute&) const { return {}; }
    /// What a gathered stage holds between Unshard and Reshard, beside the rank's own part.
    virtual Bytes unsharded_bytes(Stage stage) const = 0;
    /// Extra bytes of the optimizer step itself.
    virtual Bytes optimizer_transient(Rank rank) const = 0;

    /// On a calibrated machine: what had to be priced all the same, in words.
    virtual std::vector<std::string> unmeasured() const { return {}; }
};

}  // namespace debubble::sim
