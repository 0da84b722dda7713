#pragma once

#include <memory>

#include "exec/core/device.h"
#include "exec/cuda/emulation/emulated_pace.h"

namespace debubble::exec::cuda {

/// The CUDA back end on an emulated GPU, for tests: the same kernels and operators, products by a
/// plain loop, lanes as threads. Its memory can be touched only while kernels and copies run, and
/// other accesses are faults, so a test that passes proves that the rest of the executor leaves a
/// device's memory alone. `room` is the arena's size; ranks on GPUs of other numbers do not reach
/// its memory.
std::unique_ptr<Device> make_emulated_device(Bytes room, const EmulatedPace& pace = {},
                                             int number = 0);

EmulatedCounts counts_of(const Device& emulated);

}  // namespace debubble::exec::cuda
