#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "models/operators/kernel.h"
#include "scenarios/plan/scenario.h"
#include "sim/engine/time_by_kind.h"
#include "sim/memory/layer_fold.h"
#include "sim/network/collective_cost.h"
#include "sim/network/group.h"

/// The device's time for the kernels of one pass.
namespace debubble::sim {

/// Communication of one kind, during which no kernel of its own pass runs.
struct ExposedExchanges {
    double seconds = 0;
    int count = 0;
};
using ExposedByKind = ArrayBy<scenarios::Exchange, ExposedExchanges, scenarios::kExchanges>;

/// Seconds of one kernel, not multiplied by the layers that it represents.
struct KernelTime {
    double takes = 0;   ///< for communication, the exposed part
    double hidden = 0;  ///< communication hidden under other kernels
};

/// Seconds of one pass on the device.
struct PassTime {
    double layers = 0;   ///< kernels of transformer layers, one after the other
    double ends = 0;     ///< kernels of embedding, head and loss
    double exposed = 0;  ///< communication during which nothing else runs
    TierSeconds busy{};  ///< each link tier, by the messages of the pass's own pipeline rank
    double hidden = 0;   ///< communication during kernels
    double exposed_in_layers = 0;
    TierSeconds communicating{};  ///< each tier, by collectives in layers, hidden or exposed
    ExposedByKind exchanges{};    ///< parts of `exposed`
    double waits = 0;             ///< waits for the last rank of all-to-alls
    TimeByKind by_kind{};         ///< of `exposed` and `hidden`
    int collectives = 0;
    std::vector<KernelTime> each{};  ///< times by kernel
    double total() const { return layers + ends + exposed; }
};

/// The time for which an all-to-all of experts waits for the last of its ranks. In DeepSeek's trace
/// of a training step, whose router was balanced (deepseek-ai/profile-data 4496024, train.json), 64
/// ranks wait for 28 % of 114.5 ms of all-to-alls, between which lie 126.4 ms of kernels; fewer
/// ranks wait less, as the maximum of fewer normal values is smaller.
struct RankWaits {
    double of_exchange = 0;  ///< seconds relative to those of the all-to-alls themselves
    double of_kernels = 0;   ///< and to those of the kernels between them

    /// The waits of a pass, relative to its all-to-alls. All of them together are no longer than
    /// the share of its kernels, as a rank is late because of its computes, however slow the
    /// network; short all-to-alls wait less (docs/decisions/0031).
    double relative_to(double exchanges, double kernels) const {
        if (exchanges <= 0) return 0;
        return std::min(of_exchange, of_kernels * kernels / exchanges);
    }
};
RankWaits waits_for_ranks(int ranks);

/// Prices kernel lists for one scenario. Tensor and context collectives follow from the placement
/// of their groups; the part of a collective during which its `hidden_by` kernels run is not
/// exposed.
class PassPricer {
public:
    explicit PassPricer(const scenarios::Scenario& scenario);

    PassTime time(std::span<const models::Kernel> kernels, LayerFold fold = {}) const;
    Duration collective(const models::Collective& collective) const;
    /// The time for which each tier's links are busy with one pipeline rank's messages.
    TierSeconds traffic(const models::Collective& collective) const;

private:
    CollectiveCost cost_of(const models::Collective& collective, const GroupPlacement& group) const;
    CollectiveCost cost_of(const models::Collective& collective) const {
        return cost_of(collective, place_of(collective.group).among_all);
    }
    /// The placement of the members of a kind of group.
    struct GroupPlacements {
        GroupPlacement among_all;  ///< its price counts the groups of the whole job
        GroupPlacement among_own;  ///< its price counts only those of its pipeline rank
    };
    const GroupPlacements& place_of(models::Collective::Group group) const;
    void add_traffic(const models::Collective& collective, int times, TierSeconds& busy) const;
    double kernel_seconds(const models::Kernel& kernel) const;
    /// Seconds of the copies that reorder the chunks of a collective along the sequence.
    double copying_seconds(const models::Collective& collective) const;
    /// The time that kernels of a pass leave for overlapped communication.
    using Room = std::vector<double>;
    double hidden_seconds(std::span<const models::Kernel> kernels, std::size_t at, double takes,
                          Room& room) const;
    double hidden_by_shared(std::span<const models::Kernel> kernels, std::size_t at, double takes,
                            Room& room) const;
    Room room_of(std::span<const models::Kernel> kernels) const;
    double relative_waits(std::span<const models::Kernel> kernels, const Room& alone,
                          LayerFold fold) const;
    int pieces_of(const models::Collective& work) const;
    std::optional<std::size_t> beside_in_pieces(std::span<const models::Kernel> kernels,
                                                std::size_t at) const;
    double lost_in_pieces(std::span<const models::Kernel> kernels, std::size_t at) const;
    double hidden_by_pieces(std::span<const models::Kernel> kernels, std::size_t at, double takes,
                            Room& room) const;

    const scenarios::Cluster& cluster_;
    scenarios::Gpu slowest_;  ///< the slowest device of the job
    GroupPlacements tensor_;
    GroupPlacements context_;
    GroupPlacements context_inner_;
    GroupPlacements context_outer_;
    GroupPlacements data_;
    GroupPlacements expert_;
    GroupPlacements expert_tensor_;
    RankWaits expert_waits_;
    bool overlaps_tensor_;
    bool in_pieces_;
    bool copies_;  ///< collectives along the sequence are reordered
    models::Dispatcher dispatcher_;
};

}  // namespace debubble::sim
