#include "exec/cuda/load_module.h"

#include <array>
#include <cstdlib>

#include "base/diagnostic.h"

namespace debubble::exec {

namespace {

constexpr const char* kModule = "debubble_cuda.so";

}  // namespace

CudaModule CudaModule::load(bool beside_nccl) {
    // CUDA reads these variables at the first call. Streams that share one of its connections to
    // the GPU wait for each other, and several ranks have some twenty streams.
    ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    // Numbers are those of nvidia-smi, not an order of speed.
    ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
    // Kernels that are loaded at their first launch first let the GPU become idle, which does not
    // happen while NCCL waits there for a rank that waits for this one.
    if (beside_nccl) ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    void* const module = open_module(kModule).demand(
        "the CUDA back end",
        "this build has no CUDA back end: it was configured without a CUDA toolkit (nvcc), or with "
        "DEBUBBLE_CUDA=OFF");
    CudaModule cuda;
    cuda.gpus_ = find_in<int (*)()>(module, kModule, "debubble_cuda_count")();
    cuda.open_ = find_in<Device* (*)(int, int, int)>(module, kModule, "debubble_cuda_device");
    cuda.bus_id_ = find_in<void (*)(int, char*, int)>(module, kModule, "debubble_cuda_bus_id");
    return cuda;
}

std::unique_ptr<Device> CudaModule::device_of(int rank_on_host, int ranks_on_host) const {
    const int gpu = rank_on_host % gpus_;
    const int ranks_on_it = (ranks_on_host - gpu + gpus_ - 1) / gpus_;
    return std::unique_ptr<Device>(open_(gpu, rank_on_host / gpus_, ranks_on_it));
}

std::unique_ptr<Device> CudaModule::device(int gpu, int ranks_on_it) const {
    return std::unique_ptr<Device>(open_(gpu, -1, ranks_on_it));
}

std::string CudaModule::bus_id(int gpu) const {
    std::array<char, 32> text{};
    bus_id_(gpu, text.data(), static_cast<int>(text.size()));
    return text.data();
}

}  // namespace debubble::exec
