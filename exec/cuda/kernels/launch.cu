#include <set>

#include "exec/cuda/driver.h"
#include "exec/cuda/kernels/device.h"

namespace debubble::exec::cuda {

namespace {

constexpr std::int64_t kAlwaysAllowed = 48 * 1024;

thread_local const char* failed = nullptr;
thread_local std::set<const void*> allowed;

/// A kernel that is compiled for the same architectures as all others.
__global__ void like_all_others() {}

}  // namespace

std::string why_no_kernels() {
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, like_all_others);
    if (status == cudaSuccess) return {};
    cudaGetLastError();  // reported here, so that the next call does not report it again
    return error_text(status);
}

const char* failed_launch() {
    const char* const name = failed;
    failed = nullptr;
    return name;
}

void note_launch(const char* name) {
    if (failed == nullptr && cudaPeekAtLastError() != cudaSuccess) failed = name;
}

void allow_shared_memory(const void* kernel, std::int64_t bytes) {
    if (bytes <= kAlwaysAllowed || !allowed.insert(kernel).second) return;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(bytes));
}

}  // namespace debubble::exec::cuda
