#include "tests/exec/kernels/kernels_twins.h"
#include "tests/exec/support/tested_device.h"

namespace debubble::exec {

std::vector<BackEnd> back_ends() {
    return {{"cuda", nullptr, [] { return tested_device(0, 1); }, why_no_device()}};
}

}  // namespace debubble::exec
