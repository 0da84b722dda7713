#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

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
    std::array<InnerFlow, 3> flows{};  ///< those of no bytes come last

    bool communicates() const { return flows[0].bytes.count > 0; }
};

/// A model states what takes time; all else takes none. Every function is called once per distinct
/// action before the run; it need not be fast and must be pure.
class CostModel {
public:
    virtual ~CostModel() = default;

    /// Do microbatches differ in cost? If not, one stands for all.
    virtual bool per_micro_batch() const { return false; }

    virtual ComputeCost compute(const Compute& action, Rank rank) const = 0;
    virtual ComputeCost recompute(const Recompute&, Rank) const { return {}; }
    /// Both at once: one after the other, and nothing over links that others use, where nothing is
    /// known of a pair.
    virtual ComputeCost overlap(const Overlap& action, Rank rank) const {
        const ComputeCost first = compute(action.first, rank);
        const ComputeCost second = compute(action.second, rank);
        return {first.duration + second.duration,
                first.exposed + second.exposed,
                first.host + second.host,
                {}};
    }
    virtual Flow transfer(const Message&, Rank /*from*/, Rank /*to*/) const { return {}; }
    /// What an Unshard, or a ReduceGrad, moves while no compute hides it; all the rest is hidden.
    virtual Flow unshard(Stage, Rank) const { return {}; }
    virtual Flow reduce_grad(Stage, std::span<const Rank> /*holders*/) const { return {}; }
    /// Beside the stage's first forward of a step, of the Unshard that ended the step before.
    virtual HiddenPart unshard_hidden(Stage, Rank) const { return {}; }
    /// Beside the backward before a ReduceGrad.
    virtual HiddenPart reduce_grad_hidden(Stage, std::span<const Rank> /*holders*/) const {
        return {};
    }
    virtual Flow tied_grad(Stage, std::span<const Rank> /*holders*/) const { return {}; }
    virtual Flow grad_norm() const { return {}; }
    virtual Flow offload(Stage, Rank) const { return {}; }  ///< reload costs the same
    virtual Duration optimizer_step(Rank) const { return {}; }

    /// Bandwidth of every link.
    virtual std::span<const BytesPerSecond> links() const { return {}; }

    /// On a calibrated machine: what had to be priced all the same, in words.
    virtual std::vector<std::string> unmeasured() const { return {}; }
};

}  // namespace debubble::sim
