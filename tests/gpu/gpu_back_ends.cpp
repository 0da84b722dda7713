#include "tests/exec/cuda/tested_device.h"
#include "tests/exec/kernels_twins.h"

namespace debubble::exec {

std::vector<BackEnd> back_ends() {
    return {{"cuda", nullptr, [] { return tested_device(0, 1); }, why_no_device()}};
}

}  // namespace debubble::exec
