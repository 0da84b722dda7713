#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "schedule/schedule.h"
#include "sim/engine/time_by_kind.h"
#include "sim/network/flow.h"
#include "trace/trace.h"

/// The cost of an action without waiting. Waiting, contention and overlap are the simulator's part,
/// not the cost model's.
namespace debubble::sim {

/// The cost of one pass of one stage over one microbatch (slice).
struct ComputeCost {
    Duration duration{};
    Duration exposed{};  ///< communication in it that nothing hides; part of duration
    Duration host{};     ///< time that the host's launching adds to the device's; part of duration
    std::array<InnerFlow, 3> flows{};  ///< flows without bytes come last

    bool communicates() const { return flows[0].bytes.count > 0; }
};

/// A model states the actions that take time; all others take none. Every function is called once
/// per distinct action before the run; it need not be fast and must be pure.
class CostModel {
public:
    virtual ~CostModel() = default;

    /// True if microbatches differ in cost. If not, one stands for all.
    virtual bool per_micro_batch() const { return false; }

    virtual ComputeCost compute(const Compute& action, Rank rank) const = 0;
    virtual ComputeCost recompute(const Recompute&, Rank) const { return {}; }
    /// The cost of both at the same time. Without knowledge of pairs they run one after the other,
    /// with nothing over links that others use.
    virtual ComputeCost overlap(const Overlap& action, Rank rank) const {
        const ComputeCost first = compute(action.first, rank);
        const ComputeCost second = compute(action.second, rank);
        return {first.duration + second.duration,
                first.exposed + second.exposed,
                first.host + second.host,
                {}};
    }
    /// The communication inside a pass by what it serves, as if no other one ran beside it.
    virtual TimeByKind communication(const Compute&) const { return {}; }
    virtual TimeByKind communication(const Recompute&) const { return {}; }
    /// The kinds that the two passes of an overlap hide for each other.
    virtual std::array<bool, kCommunicationKinds> hidden_in_pairs() const { return {}; }
    /// The parts of an overlap whose layers run side by side, of one that begins at 0; empty where
    /// it has none that are known.
    virtual std::vector<PairPart> pair_parts(const Overlap&, Rank) const { return {}; }
    virtual Flow transfer(const Message&, Rank /*from*/, Rank /*to*/) const { return {}; }
    /// The flow of an Unshard or a ReduceGrad while no compute hides it; the rest of it is hidden.
    virtual Flow unshard(Stage, Rank) const { return {}; }
    virtual Flow reduce_grad(Stage, std::span<const Rank> /*holders*/) const { return {}; }
    /// The step before ends with an Unshard: the part of it that runs during the stage's first
    /// forward of this step.
    virtual HiddenPart unshard_hidden(Stage, Rank) const { return {}; }
    /// The part of a ReduceGrad that runs during the backward before it.
    virtual HiddenPart reduce_grad_hidden(Stage, std::span<const Rank> /*holders*/) const {
        return {};
    }
    virtual Flow tied_grad(Stage, std::span<const Rank> /*holders*/) const { return {}; }
    virtual Flow grad_norm() const { return {}; }
    virtual Flow offload(Stage, Rank) const { return {}; }  ///< reload costs the same
    virtual Duration optimizer_step(Rank) const { return {}; }
    /// The host's time from the end of a rank's step to its first action of the next one.
    virtual Duration between_steps(Rank) const { return {}; }

    /// Bandwidth of every link.
    virtual std::span<const BytesPerSecond> links() const { return {}; }

    /// The operators that a calibrated machine has no measurement of and that are priced by rates,
    /// in words.
    virtual std::vector<std::string> unmeasured() const { return {}; }
};

}  // namespace debubble::sim
