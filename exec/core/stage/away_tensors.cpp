#include "exec/core/stage/away_tensors.h"

#include "models/offloads.h"

namespace debubble::exec {

AwayTensors::AwayTensors(const models::StageGraph& graph, Kernels& kernels)
    : goes_(graph.tensors.size()), kernels_(&kernels) {
    for (const models::OffloadGroup& group : models::offloads_of(graph))
        for (const int tensor : group.tensors) goes_[static_cast<std::size_t>(tensor)] = true;
}

void AwayTensors::leave(const MicroBatch& micro_batch, int tensor, const TensorView& here) {
    if (!goes_[static_cast<std::size_t>(tensor)] || !here) return;
    Tensor copy(here.shape, here.type);
    kernels_->download(here, copy.view());
    away_.insert_or_assign({micro_batch, tensor}, std::move(copy));
}

void AwayTensors::come_back(const MicroBatch& micro_batch, int tensor, const TensorView& here) {
    const auto found = away_.find({micro_batch, tensor});
    if (found == away_.end()) return;
    kernels_->upload(found->second.view(), here);
    away_.erase(found);
}

}  // namespace debubble::exec
