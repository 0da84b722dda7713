#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/device_lanes.h"

namespace debubble::exec {

/// A unit's optimizer state in the host's memory: flat tensors with equal numbers of elements.
struct HostState {
    std::vector<TensorView> tensors;
    /// Asks the kernels to step the elements from `first` on: `slices` are the parts of the
    /// tensors, in the device's memory.
    std::function<void(std::int64_t first, std::span<const TensorView> slices)> step;
};

/// Steps on the device state that lies on the host, slice by slice through a buffer of at most
/// `buffer` bytes, of which each slice takes a third: one lane brings slices in, the kernels step
/// them, another lane takes them back, so that both directions of the link and the kernels work at
/// the same time (ZeRO-Infinity's overlap, Rajbhandari et al. 2021). Work that the kernels are
/// asked for later starts when everything is back.
void pass_through_device(std::span<const HostState> units, DeviceLanes& lanes, Arena& arena,
                         Bytes buffer);

}  // namespace debubble::exec
