#include "exec/cuda/load_nccl.h"

#include "base/diagnostic.h"
#include "exec/cuda/open_module.h"

namespace debubble::exec {

namespace {

constexpr const char* kModule = "debubble_nccl.so";
constexpr const char* kCudaModule = "debubble_cuda.so";

std::string why_not(const OpenedModule& opened) {
    return opened.exists
               ? "NCCL cannot be loaded: " + opened.why
               : "this build has no NCCL: CMake found no nccl.h and libnccl, or no CUDA toolkit";
}

}  // namespace

std::optional<std::string> why_no_nccl() {
    const OpenedModule opened = open_module(kModule);
    return opened.module ? std::nullopt : std::optional(why_not(opened));
}

std::unique_ptr<Communicator> connect_nccl(nccl::Setup setup) {
    const OpenedModule cuda = open_module(kCudaModule), nccl = open_module(kModule);
    if (!nccl.module) throw WorldError(why_not(nccl));
    if (!cuda.module) throw WorldError("NCCL has no CUDA back end beside it: " + cuda.why);
    setup.stream_of = find_in<void* (*)(DeviceLanes&, DeviceLane)>(cuda.module, kCudaModule,
                                                                   "debubble_cuda_stream");
    const auto connect = find_in<Communicator* (*)(const nccl::Setup&)>(nccl.module, kModule,
                                                                        "debubble_nccl_connect");
    return std::unique_ptr<Communicator>(connect(setup));
}

}  // namespace debubble::exec
