#pragma once

#include <cuda_runtime.h>

#include <string>

namespace debubble::exec::cuda {

/// An error of CUDA by its name, which is what one searches for, and in words:
/// "cudaErrorMemoryAllocation (out of memory)".
inline std::string error_text(cudaError_t status) {
    return std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
}

}  // namespace debubble::exec::cuda
