#include "exec/cuda/module.h"

#include <gtest/gtest.h>

#include "exec/cuda/load_module.h"
#include "tests/exec/support/comm/comm_checks.h"

namespace debubble::exec {
namespace {

TEST(NoGpu, IsSaidWithItsReason) {
    EXPECT_EQ(cuda::sentence_of(
                  {{}, 13000, cuda::NoGpu::Error{"cudaErrorInsufficientDriver", "insufficient"}}),
              "there is no GPU for CUDA to use: no NVIDIA driver is installed");
    check_has(cuda::sentence_of({13000, 13000, {}}), "the driver shows none");
    EXPECT_EQ(cuda::sentence_of(
                  {13000, 13000, cuda::NoGpu::Error{"cudaErrorNoDevice", "no device is detected"}}),
              "there is no GPU for CUDA to use: cudaErrorNoDevice (no device is detected)");
}

TEST(NoGpu, OfADriverThatIsTooOldNamesBothVersions) {
    const std::string old = cuda::sentence_of(
        {12040, 13000, cuda::NoGpu::Error{"cudaErrorInsufficientDriver", "insufficient"}});
    check_has(old, "cudaErrorInsufficientDriver");
    check_has(old, "the driver is for CUDA 12.4");
    check_has(old, "built with CUDA 13.0");
    check_has(old, "pack.sh --cuda12");
    const std::string newer = cuda::sentence_of(
        {13010, 12040,
         cuda::NoGpu::Error{"cudaErrorSystemNotReady", "system not yet initialized"}});
    check_has(newer, "fabric manager");
    EXPECT_EQ(newer.find("--cuda12"), std::string::npos) << newer;
}

/// What the loader says of a library that is not there says nothing of where it could come from.
TEST(OpenedModule, SaysWhereCudasLibrariesMayLie) {
    const OpenedModule absent{
        nullptr, true,
        "libcublasLt.so.13: cannot open shared object file: No such file or directory"};
    check_has(absent.trouble("the CUDA back end", "").value(),
              "the CUDA back end cannot be loaded: libcublasLt.so.13: cannot open shared object "
              "file: No such file or directory; LD_LIBRARY_PATH");
    const OpenedModule other{nullptr, true, "undefined symbol: cublasLtMatmul"};
    EXPECT_EQ(other.trouble("NCCL", ""), "NCCL cannot be loaded: undefined symbol: cublasLtMatmul");
}

}  // namespace
}  // namespace debubble::exec
