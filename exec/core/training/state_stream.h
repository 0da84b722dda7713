#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/device_lanes.h"

namespace debubble::exec {

/// A unit's optimizer state in the host's memory: flat tensors of as many elements each.
struct HostState {
    std::vector<TensorView> tensors;
    /// Asks the kernels to step elements from `first` on: `slices` are those of the tensors, in
    /// the device's memory.
    std::function<void(std::int64_t first, std::span<const TensorView> slices)> step;
};

/// Steps on the device what waits on the host, slice by slice through a buffer of at most
/// `buffer` bytes, a third of it each: one lane brings slices in, the kernels step them, another
/// lane takes them back, so that both directions of the link and the kernels work beside each
/// other (ZeRO-Infinity's overlap, Rajbhandari et al. 2021). What the kernels are asked for later
/// begins when all is back.
void pass_through_device(std::span<const HostState> units, DeviceLanes& lanes, Arena& arena,
                         Bytes buffer);

}  // namespace debubble::exec
