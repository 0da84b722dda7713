#pragma once

#include <memory>

#include "exec/device.h"

namespace debubble::exec {

/// The CUDA back end, in a module beside the program that is loaded when it is asked for: the
/// same program starts where there is no CUDA.
class CudaModule {
public:
    /// Throws WorldError, with one sentence that says why, where there is no GPU to use.
    static CudaModule load();

    int gpus() const { return gpus_; }
    /// For a rank, on the thread that will use it: ranks of this host take the GPUs in turn.
    std::unique_ptr<Device> device_of(int rank_on_host, int ranks_on_host) const;

private:
    Device* (*open_)(int device, int part, int ranks_on_it) = nullptr;
    int gpus_ = 0;
};

}  // namespace debubble::exec
