#pragma once

#include <span>
#include <vector>

#include "models/kernel.h"
#include "scenarios/scenario.h"
#include "sim/memory/layer_fold.h"
#include "sim/network/collective_cost.h"
#include "sim/network/group.h"

/// How long the device works on the kernels of one pass.
namespace debubble::sim {

/// Exchanges of a kind, beside which no kernel of their own pass runs.
struct ExposedExchanges {
    double seconds = 0;
    int count = 0;
};
using ExposedByKind = std::array<ExposedExchanges, scenarios::kExchanges>;

/// Seconds of one kernel, however often its layer stands for others.
struct KernelTime {
    double takes = 0;   ///< of communication what nothing hides
    double hidden = 0;  ///< communication beside other kernels
};

/// Seconds of one pass on the device.
struct PassTime {
    double layers = 0;   ///< kernels of transformer layers, one after the other
    double ends = 0;     ///< kernels of embedding, head and loss
    double exposed = 0;  ///< communication beside which nothing runs
    TierSeconds busy{};  ///< the links, by what the pass's own pipeline rank sends over them
    double hidden = 0;   ///< communication beside kernels
    double exposed_in_layers = 0;
    TierSeconds communicating{};  ///< each tier, by collectives in layers, hidden or not
    ExposedByKind exchanges{};    ///< of `exposed`
    int collectives = 0;
    std::vector<KernelTime> each{};  ///< by kernel
    double total() const { return layers + ends + exposed; }
};

/// Prices kernel lists for one scenario. Tensor and context collectives follow
/// from the placement of their groups; what a collective's `hidden_by` kernels
/// run beside it is not exposed.
class PassPricer {
public:
    explicit PassPricer(const scenarios::Scenario& scenario);

    PassTime time(std::span<const models::Kernel> kernels, LayerFold fold = {}) const;
    Duration collective(const models::Collective& collective) const;

private:
    CollectiveCost cost_of(const models::Collective& collective) const;
    /// Where the members of a kind of group lie.
    struct Place {
        GroupPlacement among_all;  ///< whose price counts the groups of the whole job
        GroupPlacement among_own;  ///< and only those of its pipeline rank
    };
    const Place& place_of(models::Collective::Group group) const;
    void add_traffic(const models::Collective& collective, int times, TierSeconds& busy) const;
    double kernel_seconds(const models::Kernel& kernel) const;
    double hidden_seconds(std::span<const models::Kernel> from, double takes) const;

    const scenarios::Cluster& cluster_;
    Place tensor_;
    Place context_;
    Place data_;
    Place expert_;
    Place expert_tensor_;
    bool overlaps_tensor_;
};

}  // namespace debubble::sim
