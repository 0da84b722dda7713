#pragma once

#include <span>

#include "models/kernel.h"
#include "scenarios/scenario.h"
#include "sim/network/group.h"

/// How long the device works on the kernels of one pass.
namespace debubble::sim {

/// All inner layers of a stage are alike: the graph holds one of them, which
/// stands for `times`. Layer -1 (no fold) is never repeated.
struct LayerFold {
    int layer = -2;
    int times = 1;
};

/// Seconds of one pass on the device.
struct PassTime {
    double layers = 0;   ///< kernels of transformer layers, one after the other
    double ends = 0;     ///< kernels of embedding, head and loss
    double exposed = 0;  ///< communication beside which nothing runs
    int collectives = 0;
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
    const GroupPlacement& placement_of(models::Collective::Group group) const;
    double kernel_seconds(const models::Kernel& kernel) const;
    double exposed_seconds(std::span<const models::Kernel> from) const;

    const scenarios::Cluster& cluster_;
    GroupPlacement tensor_;
    GroupPlacement context_;
    GroupPlacement data_;
    GroupPlacement expert_;
    GroupPlacement expert_tensor_;
    bool overlaps_tensor_;
};

}  // namespace debubble::sim
