#pragma once

#include <chrono>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/device.h"
#include "models/kernel.h"

/// A device's kernels over growing shapes: the curves behind the efficiencies of a cluster.
namespace debubble::exec {

struct KernelTiming {
    models::Kernel kernel;
    double seconds = 0;
};

/// Shapes grow until one call takes so long, or the arena has no room for the next.
struct SweepLimits {
    std::chrono::nanoseconds enough = std::chrono::milliseconds(20);
    std::int64_t deepest_product = 16384;
    std::int64_t longest_sequence = 16384;
    std::int64_t most_elements = std::int64_t{1} << 28;
};

/// Products whose tiles of 256 x 128 are one full wave, ever deeper; causal attention of heads of
/// 128 with four waves of blocks, forward and backward, ever longer; sums, GELUs and norms of
/// ever more elements. In bf16, or fp16 where there is none; the deepest product in fp32 too.
/// Every kernel is repeated between two waits for the device, so that what it takes to launch
/// one counts as far as the device waits for it.
std::vector<KernelTiming> sweep_device(const DeviceFacts& facts, Kernels& kernels, Arena& arena,
                                       const SweepLimits& limits = {});

/// Between the host's page-locked memory and the device's, as activations are offloaded; by the
/// device's clock.
struct HostCopyRates {
    BytesPerSecond to_device;
    BytesPerSecond from_device;
};
HostCopyRates host_copy_rates(DeviceLanes& lanes, Arena& arena, const SweepLimits& limits = {});

}  // namespace debubble::exec
