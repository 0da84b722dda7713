#pragma once

#include <memory>
#include <string>

#include "exec/core/device.h"

namespace debubble::exec {

/// The CUDA back end, in a module next to the program that is loaded on demand: so the same program
/// starts where there is no CUDA.
class CudaModule {
public:
    /// Loads the module. `beside_nccl`: NCCL will run in this process. Throws WorldError with one
    /// sentence that gives the reason where there is no GPU to use.
    static CudaModule load(bool beside_nccl = false);

    int gpus() const { return gpus_; }
    /// The device of a rank that is a thread, which calls this itself: ranks take the GPUs in turn.
    std::unique_ptr<Device> device_of(int rank_on_host, int ranks_on_host) const;
    /// The device of a rank that is a process, called on the thread that will use it. Processes
    /// take turns on a GPU, so that none has a part of the multiprocessors.
    std::unique_ptr<Device> device(int gpu, int ranks_on_it) const;
    /// An identity of the GPU that is the same for every process that sees it, by whatever number.
    std::string bus_id(int gpu) const;

private:
    Device* (*open_)(int device, int part, int ranks_on_it) = nullptr;
    void (*bus_id_)(int device, char* text, int size) = nullptr;
    int gpus_ = 0;
};

}  // namespace debubble::exec
