#include "exec/core/stage/operators/offloaded_tensors.h"

#include <algorithm>

#include "base/check.h"

namespace debubble::exec {

namespace {

/// The tensors that exist while the part's kernels run.
std::vector<int> used_by(const models::Operator& op, models::Part part) {
    switch (part) {
        case models::Part::Forward:
        case models::Part::Again: return op.forward_uses;
        case models::Part::Input: return op.backward_input_uses;
        case models::Part::Weight: return op.backward_weight_uses;
        case models::Part::Fused: break;
    }
    std::vector<int> both = op.backward_input_uses;
    both.insert(both.end(), op.backward_weight_uses.begin(), op.backward_weight_uses.end());
    return both;
}

/// A pool has no empty blocks, which a rank needs that received no tokens.
Bytes block_of(std::int64_t bytes) {
    return Bytes{std::max<std::int64_t>(bytes, 1)};
}

}  // namespace

ModuleOffloads::ModuleOffloads(const StageTools& tools) : tools_(tools) {
    if (tools.lanes != nullptr) pinned_.emplace(*tools.lanes);
}

void ModuleOffloads::reserve(const models::StageGraph& graph,
                             const std::vector<models::OperatorRun>& forward) {
    if (!pinned_) return;
    for (const models::OperatorRun& run : forward)
        for (const int tensor : run.leaves)
            pinned_->reserve(graph.tensors[tensor].bytes, tools_.offloaded);
}

void ModuleOffloads::leave(const MicroBatch& micro_batch, const models::StageGraph& graph,
                           const models::OperatorRun& run, LiveTensors& live) {
    for (const int index : run.leaves) {
        ArenaTensor tensor = std::move(live[index]);
        DEBUBBLE_CHECK(tensor, "only existing tensors are offloaded");
        Waiting& waiting = waiting_[{micro_batch, index}];
        waiting.layer = graph.operators[run.op].layer.value_or(0);
        if (pinned_) {
            leave_by_lane(waiting, std::move(tensor));
            continue;
        }
        waiting.host = Tensor(tensor.view().shape, tensor.view().type);
        tools_.kernels.download(tensor.view(), waiting.host.view());
    }
}

/// The lane does one copy after the other, out and in, so pinned memory may be reused for the next
/// copy as soon as its own is enqueued.
void ModuleOffloads::leave_by_lane(Waiting& waiting, ArenaTensor tensor) {
    const TensorView& view = tensor.view();
    DeviceLanes& lanes = *tools_.lanes;
    waiting.memory = pinned_->take(block_of(view.bytes()));
    waiting.pinned = {waiting.memory.data(), view.shape, view.type};
    lanes.wait(kCopyLane, lanes.mark(kComputeLane));
    lanes.copy(kCopyLane, view.data, waiting.memory.data(), Bytes{view.bytes()});
    const Mark left = lanes.mark(kCopyLane);
    tools_.arena.lend(std::move(tensor), [&lanes, left] { return lanes.reached(left); });
}

int ModuleOffloads::layer_of(const MicroBatch& micro_batch, int tensor) const {
    return waiting_.at({micro_batch, tensor}).layer;
}

void ModuleOffloads::come_back(const MicroBatch& micro_batch, int tensor, const TensorView& there) {
    const auto found = waiting_.find({micro_batch, tensor});
    DEBUBBLE_CHECK(found != waiting_.end(), "only offloaded tensors are reloaded");
    const Waiting& waiting = found->second;
    const TensorView host = pinned_ ? waiting.pinned : waiting.host.view();
    DEBUBBLE_CHECK(host.bytes() == there.bytes(), "a tensor keeps its size while it is offloaded");
    if (pinned_) {
        DeviceLanes& lanes = *tools_.lanes;
        lanes.wait(kCopyLane, lanes.mark(kComputeLane));  // kernels may still use the memory
        lanes.copy(kCopyLane, host.data, there.data, Bytes{host.bytes()});
        returning_.insert_or_assign({micro_batch, tensor}, lanes.mark(kCopyLane));
    } else {
        tools_.kernels.upload(host, there);
    }
    waiting_.erase(found);
}

void ModuleOffloads::await(const MicroBatch& micro_batch, const models::Operator& op,
                           models::Part part) {
    if (returning_.empty()) return;
    for (const int tensor : used_by(op, part)) {
        const auto back = returning_.find({micro_batch, tensor});
        if (back == returning_.end()) continue;
        tools_.lanes->hold_compute(back->second);
        returning_.erase(back);
    }
}

}  // namespace debubble::exec
