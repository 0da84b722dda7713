#pragma once

#include "base/units.h"
#include "models/kernel.h"
#include "scenarios/cluster.h"

/// What a kernel takes on a device, all alone. Matrix products by tiles and
/// waves: the output is cut into tiles, one per multiprocessor at a time, so that
/// a last, partly filled wave costs as much as a full one. Everything else by the
/// bytes that it moves.
namespace debubble::sim {

Duration kernel_time(const models::Gemm& gemm, const scenarios::Gpu& gpu);
Duration kernel_time(const models::FlashAttention& attention, const scenarios::Gpu& gpu);
Duration kernel_time(const models::Traffic& traffic, const scenarios::Gpu& gpu);

/// Dense matrix peak for operands of this width; 0 if unknown.
double peak_flops_per_s(const scenarios::Gpu& gpu, int element_bytes);
/// As elementwise kernels reach it on average.
BytesPerSecond effective_memory_bandwidth(const scenarios::Gpu& gpu);

}  // namespace debubble::sim
