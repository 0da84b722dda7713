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

/// Activations that wait for their backward outside the arena, in the host's memory. Where a device
/// has lanes, its copy lane moves them; otherwise they are copied synchronously.
class OffloadedTensors {
public:
    explicit OffloadedTensors(const StageTools& tools);

    /// Offloads all tensors of `live` except those that later slices read.
    void offload(const MicroBatch& micro_batch, const models::StageGraph& graph, LiveTensors& live);
    /// Reloads the tensors that were offloaded.
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

/// Saved activations of chosen modules that are offloaded to the host's memory while the forward
/// runs and reloaded while the backward does (models/graph/replays.h). Where a device has lanes,
/// its copy lane moves them, overlapped with kernels; otherwise they are copied synchronously.
class ModuleOffloads {
public:
    explicit ModuleOffloads(const StageTools& tools);

    /// Allocates pinned memory for all microbatches that will be in flight, at a time when no rank
    /// waits for this one: the allocation may wait for all work of the device. Uneven routing may
    /// need more later.
    void reserve(const models::StageGraph& graph, const std::vector<models::OperatorRun>& forward);

    /// Offloads the tensors of `live` that leave the device after this operator.
    void leave(const MicroBatch& micro_batch, const models::StageGraph& graph,
               const models::OperatorRun& run, LiveTensors& live);
    /// The layer of the operator after which the tensor was offloaded. Precondition: it is
    /// offloaded.
    int layer_of(const MicroBatch& micro_batch, int tensor) const;
    /// Reloads the tensor into memory of its size. Precondition: it is offloaded.
    void come_back(const MicroBatch& micro_batch, int tensor, const TensorView& there);
    /// Lets the kernels of the operator's part wait for tensors that are being reloaded.
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
