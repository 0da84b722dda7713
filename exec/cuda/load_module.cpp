#include "exec/cuda/load_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "base/diagnostic.h"

namespace debubble::exec {

namespace {

constexpr const char* kModule = "debubble_cuda.so";

template <class Function>
Function find(void* module, const char* name) {
    const auto found = reinterpret_cast<Function>(dlsym(module, name));
    if (!found) throw WorldError(std::string(kModule) + " is of another version");
    return found;
}

}  // namespace

CudaModule CudaModule::load() {
    const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    auto path = programs / kModule;
    if (!std::filesystem::exists(path)) path = programs.parent_path() / "lib/debubble" / kModule;
    if (!std::filesystem::exists(path))
        throw WorldError(
            "this build has no CUDA back end: it was configured without a CUDA toolkit (nvcc), or "
            "with DEBUBBLE_CUDA=OFF");
    // Never closed: what it threw or made may outlive whoever asked.
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) throw WorldError(std::string("the CUDA back end cannot be loaded: ") + dlerror());
    CudaModule cuda;
    cuda.gpus_ = find<int (*)()>(module, "debubble_cuda_count")();
    cuda.open_ = find<Device* (*)(int, int, int)>(module, "debubble_cuda_device");
    return cuda;
}

std::unique_ptr<Device> CudaModule::device_of(int rank_on_host, int ranks_on_host) const {
    const int gpu = rank_on_host % gpus_;
    const int sharing = (ranks_on_host - gpu + gpus_ - 1) / gpus_;
    return std::unique_ptr<Device>(open_(gpu, rank_on_host / gpus_, sharing));
}

}  // namespace debubble::exec
