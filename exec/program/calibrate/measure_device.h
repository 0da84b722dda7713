#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "exec/program/calibrate/measure_job.h"

/// What one rank's share of the processor, or of a GPU, reaches while all ranks use theirs.
namespace debubble::exec {

struct DeviceFigures {
    std::string processor;        ///< "Intel(R) Xeon(R) ..."
    std::string features;         ///< of those that kernels look for: "avx512f avx512_bf16"
    int cores = 1;                ///< that this process may use
    bool bf16 = false;            ///< multiplies bf16 as it is
    double fp32_flops_per_s = 0;  ///< of products of 512 x 512 matrices
    double bf16_flops_per_s = 0;
    BytesPerSecond memory_bandwidth;  ///< read and written by copies that fit no cache
    Bytes memory;                     ///< of the machine, divided by the ranks
};

DeviceFigures measure_device(int ranks, const MeasureOptions& how);

/// Of the device of rank 0.
struct GpuFigures {
    std::string name;
    DeviceFacts facts;
    std::vector<KernelTiming> timings;
    HostCopyRates copies;
};

/// Precondition: `how` names a device.
GpuFigures measure_gpu(int ranks, const MeasureOptions& how);

}  // namespace debubble::exec
