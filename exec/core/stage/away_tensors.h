#pragma once

#include <map>
#include <utility>
#include <vector>

#include "exec/core/stage/operator_call.h"

namespace debubble::exec {

/// The saved tensors of single modules that are in the host's memory between a forward and its
/// backward (models/offloads.h). The host waits for every copy.
class AwayTensors {
public:
    AwayTensors(const models::StageGraph& graph, Kernels& kernels);

    /// Takes a copy of the tensor if it is one of those that go away.
    void leave(const MicroBatch& micro_batch, int tensor, const TensorView& here);
    /// Brings the tensor's values back to the memory that was made for it, if they are away.
    void come_back(const MicroBatch& micro_batch, int tensor, const TensorView& here);

private:
    std::vector<bool> goes_;  ///< by tensor
    Kernels* kernels_;
    std::map<std::pair<MicroBatch, int>, Tensor> away_;
};

}  // namespace debubble::exec
