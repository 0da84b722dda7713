#include "exec/core/stage/operators/offloaded_tensors.h"

#include <utility>

namespace debubble::exec {

bool seen_later(const models::StageGraph& graph, int tensor) {
    return graph.tensors[tensor].slices == models::Across::Seen;
}

OffloadedTensors::OffloadedTensors(const StageTools& tools) : tools_(tools) {
    if (tools.lanes != nullptr) pinned_.emplace(*tools.lanes);
}

OffloadedTensors::Waiting OffloadedTensors::copied(int index, const TensorView& view) {
    Waiting tensor{index, Tensor(view.shape, view.type), {}, {}};
    tools_.kernels.download(view, tensor.host.view());
    return tensor;
}

/// The lane does one copy after the other, out and in, so pinned memory may be reused for the next
/// copy as soon as its own is enqueued.
OffloadedTensors::Waiting OffloadedTensors::copied_by_lane(int index, const TensorView& view) {
    PinnedPool::Block memory = pinned_->take(Bytes{view.bytes()});
    tools_.lanes->copy(kCopyLane, view.data, memory.data(), Bytes{view.bytes()});
    const TensorView there{memory.data(), view.shape, view.type};
    return {index, {}, there, std::move(memory)};
}

/// Reserves pinned memory for all tensors that will be offloaded at the same time, while nothing
/// waits for this rank: allocating it may wait for all work of the device.
void OffloadedTensors::reserve(const models::StageGraph& graph, const LiveTensors& live) {
    for (std::size_t i = 0; i < live.size(); ++i)
        if (live[i] && !seen_later(graph, static_cast<int>(i)))
            pinned_->reserve(Bytes{live[i].view().bytes()}, tools_.offloaded);
}

void OffloadedTensors::offload(const MicroBatch& micro_batch, const models::StageGraph& graph,
                               LiveTensors& live) {
    if (pinned_ && !std::exchange(reserved_, true)) reserve(graph, live);
    std::vector<Waiting>& waiting = waiting_[micro_batch];
    std::vector<ArenaTensor> leaving;  // while the lane still reads them
    for (std::size_t i = 0; i < live.size(); ++i) {
        const int index = static_cast<int>(i);
        if (!live[i] || seen_later(graph, index)) continue;
        const TensorView& view = live[i].view();
        waiting.push_back(pinned_ ? copied_by_lane(index, view) : copied(index, view));
        if (pinned_)
            leaving.push_back(std::move(live[i]));
        else
            live[i] = {};
    }
    if (!pinned_) return;
    DeviceLanes& lanes = *tools_.lanes;
    const Mark left = lanes.mark(kCopyLane);
    for (ArenaTensor& tensor : leaving)
        tools_.arena.lend(std::move(tensor), [&lanes, left] { return lanes.reached(left); });
}

void OffloadedTensors::reload(const MicroBatch& micro_batch, const models::StageGraph& graph,
                              LiveTensors& live) {
    for (const Waiting& tensor : waiting_[micro_batch]) {
        const TensorView host = pinned_ ? tensor.pinned : tensor.host.view();
        live[tensor.index] = tools_.arena.allocate(host.shape, host.type, MemoryClass::Activations,
                                                   graph.tensors[tensor.index].name);
        const TensorView& back = live[tensor.index].view();
        if (pinned_)
            tools_.lanes->copy(kCopyLane, host.data, back.data, Bytes{host.bytes()});
        else
            tools_.kernels.upload(host, back);
    }
    waiting_.erase(micro_batch);
}

}  // namespace debubble::exec
