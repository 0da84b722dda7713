#pragma once

#include <memory>
#include <string>

#include "exec/core/device.h"

namespace debubble::exec {

/// The CUDA back end, in a module beside the program that is loaded when it is asked for: the
/// same program starts where there is no CUDA.
class CudaModule {
public:
    /// `beside_nccl`: NCCL will run in this process. Throws WorldError, with one sentence that says
    /// why, where there is no GPU to use.
    static CudaModule load(bool beside_nccl = false);

    int gpus() const { return gpus_; }
    /// For a rank that is a thread, which asks: ranks take the GPUs in turn.
    std::unique_ptr<Device> device_of(int rank_on_host, int ranks_on_host) const;
    /// For a rank that is a process, on the thread that will use it. Processes take turns on a GPU,
    /// so that none has a part of the multiprocessors.
    std::unique_ptr<Device> device(int gpu, int ranks_on_it) const;
    /// The same for every process that sees this GPU, by whatever number.
    std::string bus_id(int gpu) const;

private:
    Device* (*open_)(int device, int part, int ranks_on_it) = nullptr;
    void (*bus_id_)(int device, char* text, int size) = nullptr;
    int gpus_ = 0;
};

}  // namespace debubble::exec
