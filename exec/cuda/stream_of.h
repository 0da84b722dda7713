#pragma once

#include "exec/core/device_lanes.h"

extern "C" {
/// The cudaStream_t of a lane of one of the module's devices, on which NCCL works.
void* debubble_cuda_stream(debubble::exec::DeviceLanes& lanes, debubble::exec::DeviceLane lane);
}
