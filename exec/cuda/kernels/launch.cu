#include "exec/cuda/kernels/device.h"

namespace debubble::exec::cuda {

namespace {

thread_local const char* failed = nullptr;

}  // namespace

const char* failed_launch() {
    const char* const name = failed;
    failed = nullptr;
    return name;
}

void note_launch(const char* name) {
    if (failed == nullptr && cudaPeekAtLastError() != cudaSuccess) failed = name;
}

}  // namespace debubble::exec::cuda
