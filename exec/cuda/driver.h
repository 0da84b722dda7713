#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#if CUDART_VERSION < 12050
#include <dlfcn.h>

/// Of drivers for CUDA 12.5 and later (their cuda.h).
extern "C" CUresult CUDAAPI cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx context,
                                                   unsigned flags, int priority);
#endif

/// The driver's functions, and CUDA's errors in words.
namespace debubble::exec::cuda {

/// An error of CUDA by its name, which is what one searches for, and in words:
/// "cudaErrorMemoryAllocation (out of memory)".
inline std::string error_text(cudaError_t status) {
    return std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
}

/// A function of the driver, which is never linked, by its name:
/// `driver_function<decltype(&cuX)>("cuX")`. nullptr where the driver does not have it.
template <class Function>
Function driver_function(const char* name) {
    void* found = nullptr;
    int known = 0;  // a version above the driver's own is refused
    cudaError_t status = cudaDriverGetVersion(&known);
#if CUDART_VERSION < 12050
    // This runtime looks functions up as of its own version only. The driver, which it has loaded,
    // knows later ones, too: cuGreenCtxStreamCreate is of 12.5.
    constexpr int kNewest = 12090;
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void* const look_up = driver ? dlsym(driver, "cuGetProcAddress_v2") : nullptr;
    CUdriverProcAddressQueryResult result{};
    const bool is_there = status == cudaSuccess && look_up &&
                          reinterpret_cast<decltype(&cuGetProcAddress)>(look_up)(
                              name, &found, std::min(known, kNewest), CU_GET_PROC_ADDRESS_DEFAULT,
                              &result) == CUDA_SUCCESS &&
                          result == CU_GET_PROC_ADDRESS_SUCCESS;
    if (driver) dlclose(driver);
#else
    cudaDriverEntryPointQueryResult result{};
    if (status == cudaSuccess)
        status = cudaGetDriverEntryPointByVersion(
            name, &found, static_cast<unsigned>(std::min(known, CUDART_VERSION)), cudaEnableDefault,
            &result);
    const bool is_there = status == cudaSuccess && result == cudaDriverEntryPointSuccess;
#endif
    return is_there ? reinterpret_cast<Function>(found) : nullptr;
}

}  // namespace debubble::exec::cuda
