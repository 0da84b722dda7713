#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "exec/program/calibrate/device_sweep.h"
#include "scenarios/cluster.h"

/// From the timings of a sweep to the constants by which the cost model prices a kernel.
namespace debubble::exec {

/// What remains of long curves: what a kernel reaches when it is large enough, and what it takes
/// when it is nothing.
struct DeviceRates {
    double product_flops_per_s = 0;  ///< in the narrow type
    double fp32_flops_per_s = 0;
    Duration product_overhead{};
    double attention_forward_flops_per_s = 0;  ///< of heads of 128, FLOPs as executed
    double attention_backward_flops_per_s = 0;
    BytesPerSecond memory;
    Duration kernel_overhead{};
};
/// Precondition: what sweep_device gives.
DeviceRates rates_of(std::span<const KernelTiming> timings);

/// A curve in a line: "64 GFLOP at 310 TFLOP/s, 128 at 402, ..."
std::string curve_text(std::span<const KernelTiming> timings, std::string_view kernel);

/// The card's datasheet, as the shipped cluster that has such cards gives it; nothing for a card
/// that none has. `device` is the driver's name for it.
std::optional<scenarios::Cluster> shipped_cluster_of(std::string_view device, Bytes memory);

/// Rates and their efficiencies, of the datasheet's peaks where `sheet` is given, else of what
/// the sweep has reached itself; a rank that shares a device has a part of it.
void put_rates(const DeviceFacts& facts, const DeviceRates& rates,
               const std::optional<scenarios::Cluster>& sheet, scenarios::Gpu& gpu);

}  // namespace debubble::exec
