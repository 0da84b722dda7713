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
#include "exec/core/reduction.h"
#include "exec/core/tensor.h"

/// What a device does beside each other, and how one waits for the other without a host.
namespace debubble::exec {

/// A line of work of a device, which does what it is asked for in that order, later. The kernels
/// compute on one, copies to and from the host's memory have another, and so has every channel
/// and every group of ranks (DeviceLanes::lane).
struct DeviceLane {
    std::int32_t number = 0;
    friend bool operator==(const DeviceLane&, const DeviceLane&) = default;
};
inline constexpr DeviceLane kComputeLane{0};
inline constexpr DeviceLane kCopyLane{1};

/// The moment at which a lane has done all that it was asked for before the mark was made. Good
/// for the step in which it was made.
struct Mark {
    std::int32_t number = -1;
    friend bool operator==(const Mark&, const Mark&) = default;
};

/// From one moment of a device to another.
struct MarkedInterval {
    Mark begin;
    Mark end;
};

/// A device did not do what it was asked for within the patience of its lanes.
class DeviceStalled : public WorldError {
    using WorldError::WorldError;
};

/// The lanes of one rank's device. Its thread uses them, and in communications, of which the last
/// rank that comes to one asks every lane for its part, the other ranks' threads too: calls of
/// different threads are safe.
///
/// Nothing here waits for the device but begin_step and finish. Who waits for a mark can only
/// name one that was made, so lanes never wait for each other in a circle.
class DeviceLanes {
public:
    virtual ~DeviceLanes() = default;

    /// The lane of that name, made when it is first asked for.
    virtual DeviceLane lane(const std::string& name) = 0;

    /// Takes all marks back, and ties the device's clock to the host's; waits for all lanes.
    virtual void begin_step() = 0;
    /// Waits until all lanes are done. Throws DeviceStalled.
    virtual void finish() = 0;
    virtual void set_patience(std::chrono::nanoseconds patience) = 0;  ///< of every wait for it

    virtual Mark mark(DeviceLane lane) = 0;
    /// What `lane` is asked for from now on begins after the mark, which is one of `of`.
    virtual void wait(DeviceLane lane, DeviceLanes& of, Mark mark) = 0;
    void wait(DeviceLane lane, Mark mark) { wait(lane, *this, mark); }

    /// The kernels wait for a communication: its bytes may be read, or overwritten, by what they
    /// are asked for from now on. For how long they stood still is noted.
    void hold_compute(Mark until) {
        const Mark from = mark(kComputeLane);
        wait(kComputeLane, until);
        note_hold({from, mark(kComputeLane)});
    }
    /// Those of this step, in the order asked.
    virtual std::vector<MarkedInterval> holds() = 0;

    virtual bool reached(Mark mark) = 0;
    /// Of a mark that was reached, by the host's clock; at most clock_error() wrong.
    virtual std::chrono::steady_clock::time_point time_of(Mark mark) = 0;
    virtual std::chrono::nanoseconds clock_error() = 0;

    /// Between a device's memory and that of another rank's, or the host's: pinned, or the call
    /// may last as long as the copy.
    virtual void copy(DeviceLane lane, const std::byte* from, std::byte* to, Bytes size) = 0;
    /// Every target becomes the reduction of the sources, `elements` of each, in their order;
    /// 16-bit types are added in fp32 and rounded once. A target may be a source.
    virtual void reduce(DeviceLane lane, std::span<const std::byte* const> sources,
                        std::span<std::byte* const> targets, DataType type, Reduction reduction,
                        std::int64_t elements) = 0;
    /// How many sources, or targets, reduce() takes.
    virtual int most_parties() const = 0;
    /// Ranks of one process whose numbers are equal reach each other's memory.
    virtual std::int32_t memory() const = 0;

    /// The host's memory as copies are fastest from and to; the caller gives it back.
    virtual std::byte* pin(Bytes size) = 0;
    virtual void unpin(std::byte* memory) noexcept = 0;

    /// Around what an action asks for: profilers show it under this name.
    virtual void open_range(const std::string& /*name*/) {}
    virtual void close_range() {}

protected:
    virtual void note_hold(MarkedInterval hold) = 0;
};

}  // namespace debubble::exec
