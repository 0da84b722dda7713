#pragma once

#include <chrono>

#include "exec/core/communicator/communicator.h"
#include "exec/cuda/nccl/plan.h"
#include "exec/cuda/nccl/version.h"

namespace debubble::exec::nccl {

/// The facts that the module debubble_nccl needs from the program that loads it.
struct Setup {
    Communicator& host;
    DeviceLanes& lanes;  ///< lanes of this rank's GPU, whose number is lanes.memory()
    /// Gives a lane's cudaStream_t.
    void* (*stream_of)(DeviceLanes& lanes, DeviceLane lane) = nullptr;
    GroupPlan plan;
    std::chrono::nanoseconds patience;
    bool some_share_a_gpu = false;  ///< whether processes share a GPU; the same for all ranks
    bool one_host = false;          ///< whether one host has all ranks; the same for all ranks
};

}  // namespace debubble::exec::nccl

extern "C" {
/// Asks NCCL and the driver for their versions; a number stays 0 where they give none.
void debubble_nccl_versions(debubble::exec::nccl::Versions& found);
/// Makes the communicator, which the caller deletes. Throws WorldError.
debubble::exec::Communicator* debubble_nccl_connect(const debubble::exec::nccl::Setup& setup);
}
