#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "exec/core/communicator/communicator.h"
#include "exec/program/calibrate/measure_job.h"
#include "exec/program/calibrate/statistics.h"
#include "scenarios/cluster/measured.h"

/// The rates of one rank's share of the processor, or of a GPU, while all ranks use theirs, and of
/// the links between ranks.
namespace debubble::exec {

struct DeviceFigures {
    std::string processor;        ///< such as "Intel(R) Xeon(R) ..."
    std::string features;         ///< those that kernels look for, such as "avx512f avx512_bf16"
    int cores = 1;                ///< cores that this process may use
    bool bf16 = false;            ///< whether it multiplies bf16 without converting it
    double fp32_flops_per_s = 0;  ///< rate of products of 512 x 512 matrices
    double bf16_flops_per_s = 0;
    BytesPerSecond memory_bandwidth;  ///< bytes read and written by copies that fit no cache
    Bytes memory;                     ///< memory of the machine, divided by the ranks
};

DeviceFigures measure_device(int ranks, const MeasureOptions& how);

/// The figures of rank 0's device.
struct GpuFigures {
    std::string name;
    DeviceFacts facts;
    std::vector<KernelTiming> timings;
    HostCopyRates copies;
};

/// Measures a GPU. Precondition: `how` names a device.
GpuFigures measure_gpu(int ranks, const MeasureOptions& how);

/// The time of a communicator's messages of all sizes, fitted as latency + bytes / bandwidth.
struct LinkTimings {
    scenarios::MeasuredCollective message;  ///< a message from one rank to another
    std::map<std::pair<models::Collective::Kind, int>, scenarios::MeasuredCollective> collectives;
};

/// Measures messages between ranks 0 and 1, and collectives over the first 2, 4, 8, ... and all of
/// `ranks` threads, while the others wait; between devices if `how` names some. Precondition: there
/// are at least two ranks.
LinkTimings measure_local_links(int ranks, const MeasureOptions& how);

}  // namespace debubble::exec
