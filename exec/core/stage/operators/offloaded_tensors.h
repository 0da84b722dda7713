#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "exec/core/pinned_pool.h"
#include "exec/core/stage/operators/operator_call.h"

/// Saved activations that wait for their backward in the host's memory.
namespace debubble::exec {

/// Whether later slices of the microbatch read the tensor, as they do a slice's keys.
bool seen_later(const models::StageGraph& graph, int tensor);

/// Activations that wait for their backward outside the arena, in the host's memory. The copy lane
/// of a device that has lanes copies them; otherwise they are copied at once.
class OffloadedTensors {
public:
    explicit OffloadedTensors(const StageTools& tools);

    /// Takes all tensors out of `live` except those that later slices read.
    void offload(const MicroBatch& micro_batch, const models::StageGraph& graph, LiveTensors& live);
    /// Brings the tensors back that were taken out.
    void reload(const MicroBatch& micro_batch, const models::StageGraph& graph, LiveTensors& live);

private:
    struct Waiting {
        int index = 0;      ///< index of the graph's tensor
        Tensor host;        ///< or, of a device with lanes,
        TensorView pinned;  ///< in
        PinnedPool::Block memory;
    };
    Waiting copied(int index, const TensorView& view);
    Waiting copied_by_lane(int index, const TensorView& view);

    void reserve(const models::StageGraph& graph, const LiveTensors& live);

    const StageTools tools_;
    std::optional<PinnedPool> pinned_;  ///< used by the copy lane alone; outlives the tensors in it
    bool reserved_ = false;
    std::map<MicroBatch, std::vector<Waiting>> waiting_;
};

/// Saved activations that chosen modules send to the host's memory while a forward runs, and that
/// come back while its backward does (models/graph/offloads.h). The copy lane of a device that has
/// lanes copies them beside the kernels; otherwise they are copied at once.
class AwayTensors {
public:
    explicit AwayTensors(const StageTools& tools);

    /// Allocates the pinned memory of as many microbatches as will be in flight, while nothing
    /// waits for this rank: allocating it may wait for all work of the device. Rows that routers
    /// send may need more later.
    void reserve(const models::StageGraph& graph, const std::vector<models::OperatorRun>& forward);

    /// Takes the tensors out of `live` that leave after the run.
    void leave(const MicroBatch& micro_batch, const models::StageGraph& graph,
               const models::OperatorRun& run, LiveTensors& live);
    /// The layer of the operator after which the tensor left. Precondition: it is away.
    int layer_of(const MicroBatch& micro_batch, int tensor) const;
    /// Fills the memory with the tensor, of the same size as when it left. Precondition: it is
    /// away.
    void come_back(const MicroBatch& micro_batch, int tensor, const TensorView& there);
    /// The kernels of the operator's part wait for its tensors that are on their way back.
    void await(const MicroBatch& micro_batch, const models::Operator& op, models::Part part);

private:
    using Key = std::pair<MicroBatch, int>;
    struct Waiting {
        int layer = 0;
        Tensor host;        ///< or, of a device with lanes,
        TensorView pinned;  ///< in
        PinnedPool::Block memory;
    };
    void leave_by_lane(Waiting& waiting, ArenaTensor tensor);

    const StageTools tools_;
    std::optional<PinnedPool> pinned_;  ///< used by the copy lane alone; outlives the tensors in it
    std::map<Key, Waiting> waiting_;
    std::map<Key, Mark> returning_;  ///< tensors of which no kernel has waited for its copy
};

}  // namespace debubble::exec
