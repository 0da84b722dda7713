#pragma once

#include "base/units.h"
#include "models/operators/kernel.h"
#include "scenarios/cluster/cluster.h"

/// The time of a single kernel on a device. GEMMs are priced by tiles and waves: the output is cut
/// into tiles, one per multiprocessor at a time, so that a last, partly filled wave costs as much
/// as a full one. Every other kernel is priced by the bytes that it moves.
namespace debubble::sim {

Duration kernel_time(const models::Gemm& gemm, const scenarios::Gpu& gpu);
Duration kernel_time(const models::FlashAttention& attention, const scenarios::Gpu& gpu);
Duration kernel_time(const models::Traffic& traffic, const scenarios::Gpu& gpu);

/// Dense matrix peak for operands of this width; 0 if unknown.
double peak_flops_per_s(const scenarios::Gpu& gpu, int element_bytes);
/// The same for the operands of this GEMM.
double peak_flops_per_s(const scenarios::Gpu& gpu, const models::Gemm& gemm);
/// The rate that long sequences and very large GEMMs reach: share of the peak, times the clock that
/// a long training sustains.
double reached_flops_per_s(const scenarios::Gpu& gpu, const models::Gemm& gemm);
/// The bandwidth that elementwise kernels reach on average.
BytesPerSecond effective_memory_bandwidth(const scenarios::Gpu& gpu);

}  // namespace debubble::sim
