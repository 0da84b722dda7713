#pragma once

#include <memory>

#include "exec/device.h"

namespace debubble::exec::cuda {

/// The CUDA back end on the emulated GPU, for tests: the same kernels and operators, products by
/// a plain loop. Its memory can be touched while kernels and copies run, and is a fault for
/// everybody else, so a test that passes proves that the rest of the executor leaves a device's
/// memory alone. `room` is the arena's.
std::unique_ptr<Device> make_emulated_device(Bytes room);

}  // namespace debubble::exec::cuda
