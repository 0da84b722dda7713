#pragma once

#include <vector>

#include "exec/core/kernels.h"

namespace debubble::exec {

/// Tensors of a device in a form that checkpoints can read and fill: copies in the host's memory.
/// Where the kernels' memory is the host's, a tensor is its own copy.
class HostCopies {
public:
    explicit HostCopies(Kernels& kernels) : kernels_(&kernels) {}

    /// The copy of a tensor, which lives as long as this object.
    TensorView of(const TensorView& tensor) {
        if (kernels_->on_host()) return tensor;
        copies_.push_back({tensor, Tensor(tensor.shape, tensor.type)});
        const TensorView host = copies_.back().host.view();
        kernels_->download(tensor, host);
        return host;
    }
    /// Writes the content of the copies back to the tensors.
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
