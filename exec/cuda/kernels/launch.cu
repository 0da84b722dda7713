#include <set>

#include "exec/cuda/kernels/device.h"

namespace debubble::exec::cuda {

namespace {

constexpr std::int64_t kAlwaysAllowed = 48 * 1024;

thread_local const char* failed = nullptr;
thread_local std::set<const void*> allowed;

}  // namespace

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
