#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "exec/program/calibrate/device_sweep.h"
#include "scenarios/cluster/cluster.h"

/// Turns the timings of a sweep into the constants by which the cost model prices a kernel.
namespace debubble::exec {

/// The summary of the curves: the rate of a kernel that is large enough, and the time of one that
/// is empty.
struct DeviceRates {
    double product_flops_per_s = 0;  ///< in the 16-bit type
    double fp32_flops_per_s = 0;
    Duration product_overhead{};
    double attention_forward_flops_per_s = 0;  ///< for heads of 128, in FLOPs as executed
    double attention_backward_flops_per_s = 0;
    BytesPerSecond memory;
    Duration kernel_overhead{};
};
/// The rates of a sweep. Precondition: `timings` come from sweep_device.
DeviceRates rates_of(std::span<const KernelTiming> timings);

/// A curve in one line, such as "64 GFLOP at 310 TFLOP/s, 128 at 402, ...".
std::string curve_text(std::span<const KernelTiming> timings, std::string_view kernel);

/// The card's datasheet, from the shipped cluster that has such cards; nothing if there is none.
/// `device` is the driver's name of the card.
std::optional<scenarios::Cluster> shipped_cluster_of(std::string_view device, Bytes memory);

/// Sets rates and their efficiencies, relative to the datasheet's peaks where `sheet` is given,
/// else to the highest rates of the sweep itself; a rank that shares a device has a part of them.
void put_rates(const DeviceFacts& facts, const DeviceRates& rates,
               const std::optional<scenarios::Cluster>& sheet, scenarios::Gpu& gpu);

}  // namespace debubble::exec
