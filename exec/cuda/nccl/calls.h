#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "exec/core/communicator/buffer.h"
#include "exec/core/device_lanes.h"

/// What is asked of NCCL: the seam that tests put another library behind. Nothing here blocks but
/// the end: destroy() for some seconds at most, abort() as long as NCCL takes.
namespace debubble::exec::nccl {

using Id = std::array<std::byte, 128>;  ///< ncclUniqueId
using Handle = void*;                   ///< ncclComm_t

/// What NCCL says of a communicator, or of a call.
struct Answer {
    bool in_progress = false;  ///< ask again (Calls::state)
    std::string error;         ///< empty: none
};

/// What a communicator is for: one way between two ranks, or the collectives of a group.
enum class Purpose { Edge, Group };

/// A moment of a lane that any thread may ask about. Unlike marks it outlives a step.
using Point = std::int32_t;

class Calls {
public:
    virtual ~Calls() = default;
    /// Before a thread's first call, unless it is the one that made this.
    virtual void begin_thread() {}

    virtual Id fresh_id() = 0;
    virtual Answer init(Handle& made, int ranks, const Id& id, int rank, Purpose purpose) = 0;
    virtual Answer state(Handle communicator) = 0;

    /// Buffers are in the device's memory, ranks are those of the communicator. Reductions add in
    /// an order of NCCL's own.
    virtual Answer send(Handle, ConstBuffer data, int to, DeviceLane lane) = 0;
    virtual Answer receive(Handle, Buffer data, int from, DeviceLane lane) = 0;
    virtual Answer all_reduce(Handle, Buffer data, Reduction reduction, DeviceLane lane) = 0;
    virtual Answer all_gather(Handle, ConstBuffer mine, Buffer all, DeviceLane lane) = 0;
    virtual Answer reduce_scatter(Handle, ConstBuffer all, Buffer mine, Reduction reduction,
                                  DeviceLane lane) = 0;
    virtual Answer broadcast(Handle, Buffer data, int root, DeviceLane lane) = 0;

    /// At the end of what the lane was asked for until now.
    virtual Point point(DeviceLane lane) = 0;
    virtual bool passed(Point point) = 0;  ///< once it is, it may stand for another moment
    /// Some bytes of the device that nobody reads.
    virtual Buffer scratch() = 0;

    /// All is done that was asked of it; not before a moment has passed if others are late.
    virtual void destroy(Handle communicator) noexcept = 0;
    /// Ends what their lanes do, wherever it stands: all of them at once, since to free what one
    /// has may wait for what another does.
    virtual void abort(std::span<const Handle> communicators) noexcept = 0;
};

}  // namespace debubble::exec::nccl
