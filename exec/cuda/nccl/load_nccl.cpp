#include "exec/cuda/nccl/setup.h"

#include "base/diagnostic.h"
#include "exec/cuda/load_module.h"

namespace debubble::exec {

namespace {

constexpr const char* kNcclModule = "debubble_nccl.so";
constexpr const char* kCudaModule = "debubble_cuda.so";

constexpr const char* kAbsent =
    "this build has no NCCL: CMake found no nccl.h and libnccl, or no CUDA toolkit";

}  // namespace

std::optional<std::string> why_no_nccl() {
    const OpenedModule opened = open_module(kNcclModule);
    if (auto trouble = opened.trouble("NCCL", kAbsent)) return trouble;
    const auto versions =
        find_in<void (*)(nccl::Versions&)>(opened.module, kNcclModule, "debubble_nccl_versions");
    nccl::Versions found;
    versions(found);
    return nccl::too_old(found);
}

std::unique_ptr<Communicator> connect_nccl(nccl::Setup setup) {
    void* const nccl = open_module(kNcclModule).demand("NCCL", kAbsent);
    void* const cuda = open_module(kCudaModule)
                           .demand("the CUDA back end that NCCL needs",
                                   "the CUDA back end that NCCL needs is missing");
    setup.stream_of =
        find_in<void* (*)(DeviceLanes&, DeviceLane)>(cuda, kCudaModule, "debubble_cuda_stream");
    const auto connect =
        find_in<Communicator* (*)(const nccl::Setup&)>(nccl, kNcclModule, "debubble_nccl_connect");
    return std::unique_ptr<Communicator>(connect(setup));
}

}  // namespace debubble::exec
