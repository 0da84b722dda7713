#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/cuda/nccl/calls.h"

namespace debubble::exec::nccl {

/// How long a thread pauses between two questions for the state of a call that does not block.
/// NCCL carries out such a call on a thread of its own, and mostly needs some tens of microseconds:
/// a thread that sleeps meanwhile wakes later than that, by at least the 50 us of Linux's timer
/// slack, and so delays every later kernel. It therefore asks again at once for `kEagerly`, and
/// sleeps only for what takes longer, as connecting does: a tenth of the time that it has waited,
/// which is late by a tenth at most.
class Polling {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds kEagerly{200};
    static constexpr std::chrono::microseconds kLongest{1000};

    explicit Polling(Clock::time_point began) : began_(began) {}
    /// The pause before the next question; zero: none but a yield.
    Clock::duration pause(Clock::time_point now) const;

private:
    Clock::time_point began_;
};

/// One rank's work for NCCL, and a thread that watches over it: an error that NCCL reports later, a
/// rank that is lost, or a stream that makes no progress ends the job on all ranks.
class Job {
public:
    /// `host` carries the facts that ranks must know of each other; all ranks make their jobs
    /// together.
    Job(Communicator& host, DeviceLanes& lanes, std::unique_ptr<Calls> calls,
        std::chrono::nanoseconds patience);
    /// Waits a moment for the others, unless the job has failed or this rank unwinds.
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    DeviceLanes& lanes() { return lanes_; }
    Calls& calls() { return *calls_; }
    std::chrono::nanoseconds patience() const { return patience_; }

    /// Makes a communicator of NCCL, and returns once all its ranks are there. `what` names it in
    /// errors.
    Handle join(int ranks, const Id& id, int rank, Purpose purpose, const std::string& what);

    /// Lets a lane work after everything that the kernels were asked for until this call; the work
    /// runs between the marks that this returns. A job that has failed does nothing.
    MarkedInterval issue(Handle communicator, DeviceLane lane, const std::string& description,
                         const std::function<Answer()>& call);

    /// The library's memory for the arena; what is reserved there is registered with all
    /// communicators, those of then and those made later. nullptr where the library has none.
    std::shared_ptr<DeviceMemory> memory();
    /// Multiprocessors that communicators may hold while kernels run: those of a receive that waits
    /// and of a send, if there are edges, and those of one collective, if any overlaps kernels.
    int multiprocessors_taken() const;

    /// A number that tells groups apart in the names of their lanes.
    int next_group() { return groups_++; }

    /// Throws Aborted with the reason, if the job has failed.
    void throw_if_failed(const std::string& description);
    /// Ends the job on all ranks; the first sentence counts.
    void fail(const std::string& sentence);

private:
    /// The work that a lane was asked for, in order.
    struct Asked {
        std::string description;
        std::optional<Point> begin;  ///< unset once it was seen passed
        Point end = 0;
        /// Time at which it had started: all before it on its lane, and kernels, are done.
        Clock::time_point began;
    };
    struct LaneRecord {
        std::list<Asked> open;
        std::optional<std::string> completed;  ///< the last one, once there is one
    };
    using Lock = std::unique_lock<std::mutex>;

    friend class RegisteredMemory;
    void register_range(std::span<std::byte> range);
    void register_with(Handle communicator);
    bool has_failed();
    /// Waits until NCCL has accepted the call, or the job has failed.
    void await_acceptance(Handle communicator, Answer answer, const std::string& what);
    void watch();
    void notice_parting();
    void take_note_of(LaneRecord& lane);
    std::optional<std::string> trouble();
    std::string lanes_text() const;
    void fail_locked(const std::string& sentence, bool tell);
    void part();

    Communicator& host_;
    std::unique_ptr<Communicator> watched_;  ///< over the same ranks, used by the watch alone
    DeviceLanes& lanes_;
    std::unique_ptr<Calls> calls_;
    std::chrono::nanoseconds patience_;
    const int exceptions_;  ///< uncaught exceptions when this was made

    std::mutex mutex_;  ///< guards all members below, and calls of NCCL
    std::condition_variable changed_;
    bool closing_ = false;
    std::optional<std::string> failure_;
    /// Communicators in the order in which they were made, which is the same on all their ranks.
    std::vector<Handle> communicators_;
    std::map<Purpose, int> made_for_;  ///< number of communicators
    std::span<std::byte> registered_;  ///< the arena; empty until it is reserved
    std::map<std::int32_t, LaneRecord> records_;
    int groups_ = 0;  ///< used by the issuing thread alone
    std::int32_t token_ = 0;
    Pending alive_;  ///< done when the rank before this one parts; fails with the job
    std::thread thread_;
};

}  // namespace debubble::exec::nccl
