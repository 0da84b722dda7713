#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>

namespace debubble::exec::cuda {

/// A function of the driver, which is never linked, by its name:
/// `driver_function<decltype(&cuX)>("cuX")`. nullptr where the driver does not have it.
template <class Function>
Function driver_function(const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    int known = 0;  // a version above the driver's own is refused
    cudaError_t status = cudaDriverGetVersion(&known);
    if (status == cudaSuccess)
        status = cudaGetDriverEntryPointByVersion(
            name, &found, static_cast<unsigned>(std::min(known, CUDART_VERSION)), cudaEnableDefault,
            &result);
    const bool is_there = status == cudaSuccess && result == cudaDriverEntryPointSuccess;
    return is_there ? reinterpret_cast<Function>(found) : nullptr;
}

}  // namespace debubble::exec::cuda
