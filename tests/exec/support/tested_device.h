#pragma once

#include <memory>
#include <string>

#include "exec/core/device.h"

/// The device that a program of tests tests: the emulated GPU, or a real one (tests/gpu).
namespace debubble::exec {

/// For a rank, on its thread. Precondition: why_no_device() is empty.
std::unique_ptr<Device> tested_device(int rank, int ranks);
std::string why_no_device();  ///< a sentence; empty where there is one

}  // namespace debubble::exec
