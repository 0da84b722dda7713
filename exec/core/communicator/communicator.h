#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "exec/core/communicator/buffer.h"
#include "exec/core/device_lanes.h"
#include "schedule/action.h"

/// The communication between ranks: the seam between the interpreter of Programs and the transport
/// (threads of one process, MPI, TCP, and NCCL between GPUs).
namespace debubble::exec {

class DeviceMemory;

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// The deadline that lies `patience` after this moment.
inline Deadline within(std::chrono::nanoseconds patience) {
    return Clock::now() + patience;
}

/// The time of a communication: from the moment at which every rank that it needs had asked for it
/// to the moment at which its bytes were there. Both ends are equal where there was nothing to do.
struct Interval {
    Clock::time_point begin;
    Clock::time_point end;
    /// For work that a device does asynchronously: it runs between these marks of the rank's lanes,
    /// whose times are known once they are reached; `begin` and `end` mean nothing then.
    std::optional<MarkedInterval> marks = {};
};

/// A wait lasted beyond its deadline. The sentence says which rank waited for what, how long, and
/// which ranks were missing. It ends the waits of all other ranks too.
class DeadlinePassed : public WorldError {
    using WorldError::WorldError;
};

/// A wait ended because another rank failed; what() carries that rank's sentence.
class Aborted : public WorldError {
    using WorldError::WorldError;
};

/// A communication in flight. Its buffers must live until wait() has returned or the request is
/// destroyed. A request that is destroyed before it is done aborts all ranks, since the other side
/// would wait for ever.
///
/// Where a device moves its own memory (Communicator::on_device), no host waits for it: wait() lets
/// the rank's kernels wait (DeviceLanes::hold_compute), and returns as soon as every rank that
/// takes part has asked. Only kernels that are asked for after it may touch the buffers; for
/// everything else, such as giving their memory to another lane, they are in use until done().
class Request {
public:
    virtual ~Request() = default;
    /// Returns once the communication is done: received bytes may be read, sent ones overwritten.
    /// Throws DeadlinePassed or Aborted; then nothing touches the buffers any more. Any thread of
    /// the rank may wait; a second wait returns at once.
    virtual Interval wait(Deadline deadline) = 0;
    /// Whether wait() would return at once and, on a device, whether its lanes are done; false
    /// where only a wait can tell. Throws Aborted.
    virtual bool done() { return false; }
};
using Pending = std::unique_ptr<Request>;

/// A channel between two ranks of a group: messages on it arrive in order. Channels that differ in
/// kind or tag are independent of each other.
struct Channel {
    int peer = 0;  ///< position of the other rank in the group
    Message::Kind kind{};
    std::int32_t tag = 0;  ///< not negative; such as the stage, where one rank holds several
    friend auto operator<=>(const Channel&, const Channel&) = default;
};

/// One rank's end of a group of ranks. Every call only starts a communication; its request
/// completes later. All ranks of a group start its collectives in the same order and with equal
/// types and sizes, chunk by chunk where chunks differ in size; where they do not, every rank fails
/// with a sentence. `label` is the name of the communication in errors: the action's text.
///
/// Reductions add in the order of the group's ranks, 16-bit types in fp32 with one rounding at the
/// end: each rank gets the same bits, in every run, and the maximum of a NaN and anything is NaN.
/// NCCL is the exception: the order is its own, every addition rounds, and a NaN may be lost.
///
/// Only one thread at a time uses one communicator.
class Communicator {
public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;  ///< this rank's position in the group
    /// The group's members as global ranks.
    virtual std::span<const int> ranks() const = 0;
    int size() const { return static_cast<int>(ranks().size()); }
    int global_rank() const { return ranks()[rank()]; }

    virtual Pending send(const Channel& to, ConstBuffer data, std::string_view label) = 0;
    virtual Pending receive(const Channel& from, Buffer data, std::string_view label) = 0;

    /// Reduces `data` in place.
    virtual Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) = 0;
    /// Part r of `all` becomes rank r's `mine`, which may be that very part.
    virtual Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) = 0;
    /// `mine` becomes part rank() of the reduced `all`, and may be that very part.
    virtual Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                                   std::string_view label) = 0;
    /// Chunk r of `out` becomes chunk rank() of rank r's `in`, and has its size; chunks may be
    /// empty, and ranks may have chunks of different sizes. All have one type. Chunks of `out` may
    /// be the same memory: then it is an all-gather of unequal parts.
    virtual Pending all_to_all(std::span<const ConstBuffer> out, std::span<const Buffer> in,
                               std::string_view label) = 0;
    /// A reduce-scatter of unequal parts: `mine` becomes the reduction of all ranks' chunks with
    /// this rank's number; it must not be one of them.
    virtual Pending reduce_scatter_uneven(std::span<const ConstBuffer> chunks, Buffer mine,
                                          Reduction reduction, std::string_view label) = 0;
    virtual Pending broadcast(Buffer data, int root, std::string_view label) = 0;
    virtual Pending barrier(std::string_view label) = 0;

    /// Makes a communicator over some of the job's ranks, in this order, this rank among them. All
    /// its members ask for it, and ranks that share several groups ask for them in the same order.
    virtual std::unique_ptr<Communicator> group(std::span<const int> global_ranks) = 0;

    /// Makes a communicator over the same ranks that moves tensors in their devices' memory, on
    /// lanes of its own and without the host's memory; nullptr where this one cannot. Each
    /// communication starts after the work that the rank's kernels had been asked for before it.
    /// All ranks ask for it together; the lanes must outlive it.
    virtual std::unique_ptr<Communicator> on_device(DeviceLanes& /*lanes*/) { return nullptr; }

    /// The source of the memory in which this communicator of devices moves tensors best, which an
    /// arena is then to come from; nullptr where any memory of the device is as good. It is asked
    /// for memory while the communicator exists, and takes it back afterwards too.
    virtual std::shared_ptr<DeviceMemory> memory() { return nullptr; }
    /// The multiprocessors of this rank's device that communications of the whole job, those of
    /// every group, may hold while its kernels compute; the number is final once all groups exist.
    virtual int multiprocessors_taken() const { return 0; }

    /// Whether all communications of a rank, of whatever group and channel, start in the order in
    /// which it asks for them: then a receive that is asked for early holds up the sends after it.
    virtual bool starts_in_order() const { return false; }

    /// Ends every wait of every rank of the job, present and future, with this sentence. The first
    /// sentence counts. A rank that fails calls it before it unwinds.
    virtual void abort(const std::string& sentence) = 0;
};

/// Runs `body`, and aborts the ranks of `world` with its sentence if it fails: before it unwinds,
/// since the others see how a communicator ends.
template <class Body>
auto abort_on_failure(Communicator& world, const Body& body) {
    try {
        return body();
    } catch (const Aborted&) {
        throw;
    } catch (const std::exception& error) {
        world.abort(error.what());
        throw;
    }
}

}  // namespace debubble::exec
