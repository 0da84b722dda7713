#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/units.h"
#include "exec/core/tensor.h"

/// The lanes of a device, which work at the same time, and the marks by which one waits for another
/// without the host.
namespace debubble::exec {

/// How the values of several ranks are combined.
enum class Reduction : std::uint8_t { Sum, Max };

// The lanes of a device, which work at the same time, and the marks by which one waits for another
// without the host.

/// A lane of a device: a stream that does its work asynchronously, in the order in which it was
/// enqueued. The kernels compute on one lane, copies to and from the host's memory have another,
/// and so has every channel and every group of ranks (DeviceLanes::lane).
struct DeviceLane {
    std::int32_t number = 0;
    friend bool operator==(const DeviceLane&, const DeviceLane&) = default;
};
inline constexpr DeviceLane kComputeLane{0};
inline constexpr DeviceLane kCopyLane{1};

/// The moment at which a lane has done all that it was asked for before the mark was made. A mark
/// is valid in the step in which it was made.
struct Mark {
    std::int32_t number = -1;
    friend bool operator==(const Mark&, const Mark&) = default;
};

/// The interval from one moment of a device to another.
struct MarkedInterval {
    Mark begin;
    Mark end;
};

/// A device has made no progress within the patience of its lanes.
class DeviceStalled : public WorldError {
    using WorldError::WorldError;
};

/// The lanes of one rank's device. The rank's thread uses them, and, in communications, so do the
/// other ranks' threads, since the last rank that comes to a communication asks every lane for its
/// part. Calls of different threads are safe.
///
/// Only begin_step and finish wait for the device. A wait names a mark that was made before, so
/// lanes never wait for each other in a circle.
class DeviceLanes {
public:
    virtual ~DeviceLanes() = default;

    /// The lane with that name, which is made when it is first asked for.
    virtual DeviceLane lane(const std::string& name) = 0;

    /// Invalidates all marks, and ties the device's clock to the host's; waits for all lanes.
    virtual void begin_step() = 0;
    /// Waits until all lanes are done. Throws DeviceStalled.
    virtual void finish() = 0;
    /// How long each wait for the device may take.
    virtual void set_patience(std::chrono::nanoseconds patience) = 0;

    virtual Mark mark(DeviceLane lane) = 0;
    /// The work that `lane` is asked for after this call starts after the mark, which is one of
    /// `of`.
    virtual void wait(DeviceLane lane, DeviceLanes& of, Mark mark) = 0;
    void wait(DeviceLane lane, Mark mark) { wait(lane, *this, mark); }

    /// The kernels wait for a communication: work that is enqueued after this call may read or
    /// overwrite its bytes. The time that they waited is recorded.
    void hold_compute(Mark until) {
        const Mark from = mark(kComputeLane);
        wait(kComputeLane, until);
        note_hold({from, mark(kComputeLane)});
    }
    /// The waits of this step, in the order asked.
    virtual std::vector<MarkedInterval> holds() = 0;

    virtual bool reached(Mark mark) = 0;
    /// The time of a mark that was reached, by the host's clock; its error is at most
    /// clock_error().
    virtual std::chrono::steady_clock::time_point time_of(Mark mark) = 0;
    virtual std::chrono::nanoseconds clock_error() = 0;

    /// Copies between a device's memory and that of another rank's device or the host. If the
    /// host's memory is not pinned, the call may last as long as the copy.
    virtual void copy(DeviceLane lane, const std::byte* from, std::byte* to, Bytes size) = 0;
    /// Makes every target the reduction of the sources, `elements` of each, in their order; 16-bit
    /// types are added in fp32 and rounded once. A target may be a source.
    virtual void reduce(DeviceLane lane, std::span<const std::byte* const> sources,
                        std::span<std::byte* const> targets, DataType type, Reduction reduction,
                        std::int64_t elements) = 0;
    /// The most sources, or targets, that reduce() takes.
    virtual int most_parties() const = 0;
    /// A number that is equal for ranks of one process that reach each other's memory.
    virtual std::int32_t memory() const = 0;

    /// Allocates host memory from and to which copies are fastest; the caller gives it back.
    virtual std::byte* pin(Bytes size) = 0;
    virtual void unpin(std::byte* memory) noexcept = 0;

    /// Opens a range around the work of an action: profilers show it under this name.
    virtual void open_range(const std::string& /*name*/) {}
    virtual void close_range() {}

protected:
    virtual void note_hold(MarkedInterval hold) = 0;
};

}  // namespace debubble::exec
