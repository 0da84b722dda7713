#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/units.h"
#include "exec/core/device_lanes.h"
#include "exec/core/kernels.h"

namespace debubble::exec {

/// The facts of a device that a calibration records.
struct DeviceFacts {
    int multiprocessors = 1;
    Bytes memory;          ///< memory of the whole device
    bool bf16 = true;      ///< whether it has matrix units for bf16
    int ranks = 1;         ///< ranks that share it
    std::string software;  ///< versions, such as "driver 13.0, CUDA 13.0, cuBLASLt 13.0.2"
};

/// Algorithms of GEMMs by a description of the GEMM, in a form that only the device's library
/// reads.
using ProductChoices = std::map<std::string, std::string>;

/// A source of an accelerator's memory: the accelerator itself, or a library that moves tensors
/// best in memory of its own making (Communicator::memory).
class DeviceMemory {
public:
    virtual ~DeviceMemory() = default;
    /// Reserves one range of addresses; each address in it is a multiple of 256 from its start.
    /// Throws WorldError.
    virtual std::byte* reserve(Bytes size) = 0;
    virtual void release(std::byte* memory) noexcept = 0;
};

/// Memory and kernels of an accelerator, as one rank sees them. The processor is not a device in
/// this sense: where a device is nullptr, tensors lie in the process's own memory.
///
/// Only its kernels read or write a device's memory; see Kernels::upload and download. One thread
/// uses a device, which outlives everything that it made.
class Device : public DeviceMemory {
public:
    virtual std::string name() const = 0;  ///< such as "NVIDIA H100 80GB HBM3"
    /// Bytes available to this rank's arena at this call, without those that libraries and
    /// communicators have taken already.
    virtual Bytes room() const = 0;
    virtual std::int64_t widest_head() const = 0;  ///< the widest head that its attention takes
    /// Whether its attention takes heads of queries and keys, and of values, that are so wide.
    virtual bool takes_heads(std::int64_t keys, std::int64_t values) const {
        return std::max(keys, values) <= widest_head();
    }
    /// A sentence for the log that says how ranks share the device; empty if there is nothing to
    /// say.
    virtual std::string note() const { return {}; }
    virtual DeviceFacts facts() const = 0;

    /// Reserves page-locked memory of the host, which kernels read and write over the link, and
    /// which copies may have on either side. Throws WorldError.
    virtual std::byte* reserve_host(Bytes size) = 0;
    virtual void release_host(std::byte* memory) noexcept = 0;
    /// Makes the kernels of the device, which all work in one order, on its compute lane.
    virtual std::unique_ptr<Kernels> make_kernels() = 0;
    virtual DeviceLanes& lanes() = 0;
    /// Tells the choice of later GEMMs' kernels how many multiprocessors communications hold while
    /// kernels run (Communicator::multiprocessors_taken).
    virtual void leave_to_communications(int /*multiprocessors*/) {}
    /// GEMMs that first run after this call take these algorithms, where the library still has
    /// them.
    virtual void choose_products(const ProductChoices& /*chosen*/) {}
    /// Whether a GEMM that first runs after this call is run by every algorithm that the library
    /// proposes, to take the fastest. Its results must not count.
    virtual void time_products(bool /*times*/) {}
    /// The algorithms that were the fastest so far.
    virtual ProductChoices timed_products() const { return {}; }
};

}  // namespace debubble::exec
