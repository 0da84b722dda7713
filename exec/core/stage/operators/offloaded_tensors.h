#pragma once

#include <map>
#include <optional>
#include <vector>

#include "exec/core/pinned_pool.h"
#include "exec/core/stage/operators/operator_call.h"

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

}  // namespace debubble::exec
