#pragma once

#include <optional>
#include <string>

namespace debubble::exec::nccl {

/// What was found of NCCL on this machine, as its own functions and CUDA count: 22809 is NCCL
/// 2.28.9, and 12030 a driver for CUDA 12.3.
struct Versions {
    int library = 0;
    int driver = 0;
};

/// "2.28.9" of 22809 (nccl.h, NCCL_VERSION; before 2.9 three digits less, as 2804 is 2.8.4).
std::string version_text(int library);

/// A sentence if kernels of several communicators could wait for each other for ever: they start in
/// the order asked from NCCL 2.26.2 on (NCCL_LAUNCH_ORDER_IMPLICIT), and beside each other only
/// under a driver for CUDA 12.3 or later; NCCL runs them one after the other under an earlier one
/// (2.28.9, src/enqueue.cc, getImplicitOrder). Nothing if both are new enough.
std::optional<std::string> too_old(const Versions& found);

}  // namespace debubble::exec::nccl
