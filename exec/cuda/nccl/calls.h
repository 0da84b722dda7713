#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "exec/core/communicator/buffer.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/device_lanes.h"
#include "exec/cuda/nccl/setup.h"

/// The calls of NCCL: a seam at which tests put another library. Only ends block: destroy() for
/// some seconds at most, abort() as long as NCCL takes.
namespace debubble::exec::nccl {

using Id = std::array<std::byte, 128>;  ///< ncclUniqueId
using Handle = void*;                   ///< ncclComm_t

/// NCCL's answer about a communicator, or to a call.
struct Answer {
    bool in_progress = false;  ///< the caller asks again (Calls::state)
    std::optional<std::string> error = {};
};

/// The purpose of a communicator: messages from one rank to another; collectives of a group that
/// overlap the kernels of its ranks; or collectives for which these kernels wait, which may take as
/// many multiprocessors as they like.
enum class Purpose { Edge, Group, StandingGroup };

/// Multiprocessors that a communicator may take from kernels which run at the same time; 0: none
/// run. A message keeps up with NVLink by 2, of which a receive that waits for its sender holds
/// both; 4 are enough for a reduction that overlaps a whole backward.
constexpr int most_ctas(Purpose purpose) {
    switch (purpose) {
        case Purpose::Edge: return 2;
        case Purpose::Group: return 4;
        case Purpose::StandingGroup: return 0;
    }
    return 0;
}

/// A moment of a lane that any thread may ask about. Unlike a mark it outlives a step.
using Point = std::int32_t;

class Calls {
public:
    virtual ~Calls() = default;
    /// Called before a thread's first call, unless it is the thread that made this object.
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
    /// Chunk r of `out` goes to rank r, and chunk r of `in` comes from it.
    virtual Answer all_to_all(Handle, std::span<const ConstBuffer> out, std::span<const Buffer> in,
                              DeviceLane lane) = 0;
    /// Chunk r of each rank is reduced into the `mine` of rank r; `rank` is this one.
    virtual Answer reduce_scatter_uneven(Handle, int rank, std::span<const ConstBuffer> chunks,
                                         Buffer mine, Reduction reduction, DeviceLane lane) = 0;
    virtual Answer broadcast(Handle, Buffer data, int root, DeviceLane lane) = 0;

    /// The moment at which the lane has done all that it was asked for until this call.
    virtual Point point(DeviceLane lane) = 0;
    /// Once it has passed, the point may be used for another moment.
    virtual bool passed(Point point) = 0;
    /// Memory of the GPU as the library's fastest transports need it; nullptr where it offers none.
    virtual std::shared_ptr<DeviceMemory> memory() { return nullptr; }
    /// Lets the communicator move tensors of that range without copying them into buffers of its
    /// own; destroy() and abort() end it. An error is harmless: such a range is moved like any
    /// other.
    virtual Answer register_range(Handle, std::span<std::byte> /*range*/) { return {}; }
    /// Bytes of the device for sends and receives whose content does not matter.
    virtual Buffer scratch() = 0;

    /// Ends a communicator whose work is all done; if others are late, it returns after a moment.
    virtual void destroy(Handle communicator) noexcept = 0;
    /// Ends the work of the communicators' lanes, wherever it is: all of them at once, since
    /// freeing the resources of one may wait for the work of another.
    virtual void abort(std::span<const Handle> communicators) noexcept = 0;
};

/// A communicator over the ranks of `host` for tensors in their GPUs' memory: a communicator of
/// NCCL and a lane for every edge that messages take, and for every group. `host` carries ids, and
/// a word of each communication, from which all ranks know that all have come and that they mean
/// the same one. All ranks call this together; the references must outlive it.
///
/// A request's wait() returns when all have asked, and lets the kernels wait for the bytes. A
/// stream that makes no progress within `patience` ends the job on all ranks.
///
/// Unlike in other communicators, reductions add in NCCL's order and precision, with 16-bit types
/// rounded at each addition: every rank gets the same bits, and so does every run with the same
/// ranks, GPUs, library and settings, but they are not the bits of another communicator. NCCL's
/// maximum may lose a NaN.
///
/// The plan describes its groups; the communicator itself is for collectives. Edges that the plan
/// does not name are made when they are first used, which their two ends must do in the same order.
std::unique_ptr<Communicator> connect(Communicator& host, DeviceLanes& lanes,
                                      std::unique_ptr<Calls> calls, const GroupPlan& plan,
                                      std::chrono::nanoseconds patience);

}  // namespace debubble::exec::nccl
