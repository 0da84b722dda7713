#pragma once

#include <map>
#include <optional>
#include <vector>

#include "exec/core/pinned_pool.h"
#include "exec/core/stage/operator_call.h"

namespace debubble::exec {

/// Whether later slices of the microbatch read the tensor, such as a slice's keys.
bool seen_later(const models::StageGraph& graph, int tensor);

/// Activations that wait outside the arena, in the host's memory, until their backward: copied by
/// the copy lane of a device that has lanes, else at once.
class OffloadedTensors {
public:
    explicit OffloadedTensors(const StageTools& tools);

    /// Takes out of `live` all but what later slices see.
    void offload(const MicroBatch& micro_batch, const models::StageGraph& graph, LiveTensors& live);
    /// Brings back what was taken out.
    void reload(const MicroBatch& micro_batch, const models::StageGraph& graph, LiveTensors& live);

private:
    struct Waiting {
        int index = 0;      ///< of the graph's tensor
        Tensor host;        ///< or, of a device with lanes,
        TensorView pinned;  ///< in
        PinnedPool::Block memory;
    };
    Waiting copied(int index, const TensorView& view);
    Waiting copied_by_lane(int index, const TensorView& view);

    void reserve(const models::StageGraph& graph, const LiveTensors& live);

    const StageTools tools_;
    std::optional<PinnedPool> pinned_;  ///< of the copy lane alone; outlives who waits in it
    bool reserved_ = false;
    std::map<MicroBatch, std::vector<Waiting>> waiting_;
};

}  // namespace debubble::exec
