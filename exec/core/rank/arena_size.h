#pragma once

#include <string>

#include "base/units.h"

namespace debubble::exec {

/// The need of an arena whose tensors hold `planned` bytes at their fullest: a tenth more and
/// 1 GiB, for the gaps between tensors and what a plan leaves out.
Bytes arena_need(Bytes planned);

/// The size of a device's arena: what the plan needs, so that the rest of the device is left to
/// libraries that take memory later; at most `room`. All of `room` where the plan is not known (0),
/// or where routers decide how many rows arrive (`rows_vary`). Throws WorldError with both numbers
/// if `room` is less than what was planned.
Bytes arena_on_device(Bytes planned, bool rows_vary, Bytes room, const std::string& device);

}  // namespace debubble::exec
