#pragma once

#include <span>

#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "sim/network/collective_cost.h"
#include "sim/network/topology.h"

/// Communication between the replicas of a stage, once or a few times per step.
namespace debubble::sim {

/// The pass that makes the last gradients of a stage.
struct LastBackward {
    Duration length{};
    /// The share of the gradients that is complete only at its end, where layers are reduced one by
    /// one (Framework::reduces_by_layer).
    double comes_last = 1;
    int reductions = 1;  ///< the collectives that reduce them, one by one
};

/// A collective, divided into the part that overlaps a compute and the exposed rest.
struct PartlyHidden {
    Flow exposed;
    HiddenPart hidden;
};

class DataParallelPrices {
public:
    DataParallelPrices(const scenarios::Scenario& scenario, const Topology& topology)
        : scenario_(scenario), topology_(topology) {}

    /// All-reduce of a stage's gradients over data x context ranks and all holders, or
    /// reduce-scatter when they are sharded. When the framework overlaps, buckets or layers are
    /// sent as the last backward makes them, and only the last of them is exposed; not on a
    /// processor, which would have to do both: there all are exposed, or the rest after
    /// reduced_in_backward(). The gradients of experts are reduced over fewer ranks, afterwards.
    PartlyHidden reduce_gradients(const models::ParameterCount& elements,
                                  std::span<const Rank> holders,
                                  const LastBackward& last_backward) const;
    /// The time for which a backward on a processor stops for its reductions: of layers, one by
    /// one, if there is no room for whole gradients until its end.
    Duration reduced_in_backward(const models::ParameterCount& elements,
                                 std::span<const Rank> holders,
                                 const LastBackward& last_backward) const;
    /// All-gather of a stage's parameters. If the framework overlaps, all but the first bucket is
    /// gathered during its first forward; not on a processor.
    PartlyHidden gather_parameters(const models::ParameterCount& elements, Rank rank,
                                   Duration first_forward) const;
    /// All-gather, once per step, of parameters that stay whole within DeepSpeed's limits.
    Duration gather_whole(const models::ParameterCount& elements, Rank rank) const;
    /// All-reduce between the first and the last holder, replica by replica: of a tied tensor, or
    /// of gradients that the replicas of each holder have reduced and sharded. No flow if there is
    /// only one holder.
    Flow reduce_between_holders(std::int64_t elements, std::span<const Rank> holders) const;
    Flow reduce_norm() const;

private:
    struct Exchange {
        CollectiveCost cost;
        Bytes size;  ///< bytes of the parameters that several ranks hold
    };
    /// Bytes of an element, and of a weight of GEMMs in 8 or 4 bits.
    struct Widths {
        std::int64_t wide = 0;
        double narrow = 0;
    };
    /// The collective of dense parameters, followed by that of experts.
    Exchange over_replicas(CollectiveKind kind, ReplicaGroup which,
                           const models::ParameterCount& elements, Widths width,
                           std::span<const Rank> holders) const;
    /// Whether replicas communicate with one owner of a shard after the other (GradReduction).
    bool by_owner(CollectiveKind kind) const;
    CollectiveCost owner_by_owner(Bytes size, const GroupPlacement& group) const;
    /// The reduction of gradients; where shards have copies, followed by their sum over the copies.
    Exchange reduced(const models::ParameterCount& elements, std::span<const Rank> holders) const;
    /// The same where a processor reduces gradients, each collective by itself.
    Exchange reduced_one_by_one(const models::ParameterCount& elements,
                                std::span<const Rank> holders,
                                const LastBackward& last_backward) const;
    /// Whether passes wait for the reductions of their layers except the last.
    bool reduces_in_backward(std::span<const Rank> holders) const;
    double last_bucket(Bytes size) const;
    /// The time by which the overlapped part of a collective lengthens the kernels.
    Duration slowed(const CollectiveCost& cost, double exposed, Duration beside) const;

    const scenarios::Scenario& scenario_;
    const Topology& topology_;
};

/// Bytes of an element in a message: of `communication_dtype`, or else of its own type.
std::int64_t gradient_bytes_sent(const scenarios::Scenario& scenario);
std::int64_t parameter_bytes_sent(const scenarios::Scenario& scenario);
/// The same for a weight of GEMMs in 8 or 4 bits.
double narrow_parameter_bytes_sent(const scenarios::Scenario& scenario);

/// Elements that each replica owns after they are distributed among the replicas.
std::int64_t share_of(const models::ParameterCount& elements, const scenarios::Parallel& parallel);

}  // namespace debubble::sim
