#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/units.h"
#include "exec/core/device_lanes.h"
#include "exec/core/kernels.h"

namespace debubble::exec {

/// What a calibration says of the device that it measured.
struct DeviceFacts {
    int multiprocessors = 1;
    Bytes memory;          ///< of the whole device
    bool bf16 = true;      ///< has matrix units for it
    int ranks = 1;         ///< that share it
    std::string software;  ///< versions: "driver 13.0, CUDA 13.0, cuBLASLt 13.0.2"
};

/// Memory and kernels of an accelerator, as one rank has them. The processor is none: where a
/// device may be missing (nullptr), tensors lie in the process's own memory.
///
/// Nobody reads or writes a device's memory but its kernels; see Kernels::upload and download.
/// One thread uses it, and it outlives what it made.
class Device {
public:
    virtual ~Device() = default;
    virtual std::string name() const = 0;          ///< "NVIDIA H100 80GB HBM3"
    virtual Bytes room() const = 0;                ///< for this rank's arena
    virtual std::int64_t widest_head() const = 0;  ///< that its attention takes
    /// A sentence for the log on how ranks share it; empty where there is nothing to say.
    virtual std::string note() const { return {}; }
    virtual DeviceFacts facts() const = 0;

    /// One range of addresses, every one a multiple of 256 from its begin. Throws WorldError.
    virtual std::byte* reserve(Bytes size) = 0;
    virtual void release(std::byte* memory) noexcept = 0;
    /// The host's memory, page-locked, that kernels read and write over the link to it; copies can
    /// have it on either side. Throws WorldError.
    virtual std::byte* reserve_host(Bytes size) = 0;
    virtual void release_host(std::byte* memory) noexcept = 0;
    /// All kernels of a device work in one order: on its compute lane.
    virtual std::unique_ptr<Kernels> make_kernels() = 0;
    virtual DeviceLanes& lanes() = 0;
};

}  // namespace debubble::exec
