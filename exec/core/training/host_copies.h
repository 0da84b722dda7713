#pragma once

#include <vector>

#include "exec/core/kernels.h"

namespace debubble::exec {

/// Tensors of a device as checkpoints can read and fill them: copies in the host's memory. Where
/// the kernels' memory is the host's, a tensor stands for itself.
class HostCopies {
public:
    explicit HostCopies(Kernels& kernels) : kernels_(&kernels) {}

    /// Lives as long as this.
    TensorView of(const TensorView& tensor) {
        if (kernels_->on_host()) return tensor;
        copies_.push_back({tensor, Tensor(tensor.shape, tensor.type)});
        const TensorView host = copies_.back().host.view();
        kernels_->download(tensor, host);
        return host;
    }
    /// What was written to the copies, to the tensors.
    void write_back() const {
        for (const Copy& copy : copies_) kernels_->upload(copy.host.view(), copy.device);
    }

private:
    struct Copy {
        TensorView device;
        Tensor host;
    };
    Kernels* kernels_;
    std::vector<Copy> copies_;
};

}  // namespace debubble::exec
