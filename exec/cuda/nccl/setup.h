#pragma once

#include <chrono>

#include "exec/core/communicator/communicator.h"
#include "exec/cuda/nccl/plan.h"

namespace debubble::exec::nccl {

/// What the module debubble_nccl needs of whoever loads it.
struct Setup {
    Communicator& host;
    DeviceLanes& lanes;  ///< of this rank's GPU, whose number is lanes.memory()
    void* (*stream_of)(DeviceLanes& lanes, DeviceLane lane) = nullptr;  ///< cudaStream_t
    Plan plan;
    std::chrono::nanoseconds patience;
    bool some_share_a_gpu = false;  ///< processes; the same for all ranks, as the next
    bool one_host = false;          ///< has all ranks
};

}  // namespace debubble::exec::nccl

extern "C" {
/// The caller's to delete. Throws WorldError.
debubble::exec::Communicator* debubble_nccl_connect(const debubble::exec::nccl::Setup& setup);
}
