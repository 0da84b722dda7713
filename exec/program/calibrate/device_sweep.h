#pragma once

#include <chrono>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/device.h"
#include "models/operators/kernel.h"

/// A device's kernels over growing shapes: the curves from which a cluster's efficiencies come.
namespace debubble::exec {

struct KernelTiming {
    models::Kernel kernel;
    double seconds = 0;
};

/// The end of growth: one call takes this long, or the arena has no room for the next shape.
struct SweepLimits {
    std::chrono::nanoseconds enough = std::chrono::milliseconds(20);
    std::int64_t deepest_product = 16384;
    std::int64_t longest_sequence = 16384;
    std::int64_t most_elements = std::int64_t{1} << 28;
};

/// Times products whose tiles of 256 x 128 are one full wave, with growing depth; causal attention
/// of heads of 128 with four waves of blocks, forward and backward, with growing length; sums,
/// GELUs and norms with growing numbers of elements. They are in bf16, or fp16 where the device has
/// no bf16; the deepest product also in fp32. Every kernel is repeated between two waits for the
/// device, so that the time of a launch counts as far as the device waits for it.
std::vector<KernelTiming> sweep_device(const DeviceFacts& facts, Kernels& kernels, Arena& arena,
                                       const SweepLimits& limits = {});

/// Rates of copies between the host's page-locked memory and the device's, as activations are
/// offloaded, by the device's clock.
struct HostCopyRates {
    BytesPerSecond to_device;
    BytesPerSecond from_device;
};
HostCopyRates host_copy_rates(DeviceLanes& lanes, Arena& arena, const SweepLimits& limits = {});

}  // namespace debubble::exec
