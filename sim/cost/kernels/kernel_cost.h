#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/units.h"
#include "models/operators/kernel.h"
#include "scenarios/cluster/cluster.h"
#include "scenarios/cluster/kernel_table.h"
#include "scenarios/plan/scenario.h"

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

// Prices a kernel from measured kernels of other shapes. A formula has the shape of a kernel's
// time, with an error of some tenth that is similar for similar kernels. The ratio of measured
// time to formula of the nearest shapes therefore corrects it: the geometric mean of the four
// nearest by the logarithms of their sizes, weighted by the inverse squares of their distances
// (Shepard 1968). A measured shape has its measured time.

/// Measured seconds over the formula's; nothing where the table has no kernel of the kind: type,
/// direction, grouped or not. `law` gives the seconds of a kernel at the clock of the table.
template <class Work>
std::optional<double> measured_over_law(const Work& work, const scenarios::KernelTable& table,
                                        const std::function<double(const Work&)>& law);

/// The time in which a rank casts `weights` weights of GEMMs in 8 or 4 bits, once per step: after
/// the step, or in the first microbatch's forward.
Duration weight_cast_time(const scenarios::Scenario& scenario, std::int64_t weights);

/// The time of one optimizer step over a rank's parameters. Offloaded state is stepped as in the
/// framework: by the node's processors (ZeRO-Offload, Ren et al. 2021), or by the GPU, through a
/// buffer that holds one slice at a time, with transfers in both directions at once.
Duration optimizer_time(const scenarios::Scenario& scenario, std::int64_t elements);

// Devices of one kind differ in speed under the same power limit (Sinha et al., "Not all GPUs are
// created equal", SC 2022), and replicas wait for each other in every step.

/// The expected maximum of `values` standard normal values (Blom, 1958: the quantile at (n - 3/8) /
/// (n + 1/4)); 0 for one.
double greatest_of_normal(int values);

/// The clock that the slowest of `devices` devices sustains, where clocks are normally distributed
/// about Gpu::kept_clock with Gpu::clock_spread: by greatest_of_normal. A single device has the
/// mean.
double slowest_clock(const scenarios::Gpu& gpu, int devices);

}  // namespace debubble::sim
