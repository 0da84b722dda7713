#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "exec/core/communicator/communicator.h"
#include "schedule/schedule.h"
#include "trace/trace.h"

/// What one rank did in one step, and when.
namespace debubble::exec {

/// Instants are those of the Clock of the rank's host.
struct StepRecord {
    Rank rank;
    std::int32_t replica = 0;
    std::vector<Span> spans;           ///< in the order in which their ends became known
    std::vector<MemorySample> memory;  ///< by time
    MemoryPeak peak;
    Duration clock_error{};  ///< of a device's clock beside the host's
};

inline Instant instant_of(Clock::time_point at) {
    return Instant{std::chrono::duration_cast<Duration>(at.time_since_epoch())};
}

/// Where an action runs.
Lane lane_of(const Action& action);

/// When something happens: known by the host's clock, or told by a device once it is over.
struct Moment {
    Clock::time_point at;
    std::optional<Mark> mark = {};
};

/// Makes the record while the step goes on. Without `lanes` by the host's clock; with them by
/// marks of the device, whose times are asked for at the end: nobody waits for it in between.
class Recorder {
public:
    Recorder(Rank rank, std::int32_t replica, DeviceLanes* lanes = nullptr)
        : record_{rank, replica, {}, {}, {}, {}}, lanes_(lanes) {}

    Moment now(DeviceLane lane = kComputeLane);

    /// `exposed`: of a pass by the host's clock, in which it stood still for communication; what a
    /// device stood still for comes on top.
    void span(const Action& action, const Moment& begin, const Moment& end, Bytes moved = {},
              Duration exposed = {});
    void span(const Action& action, const Interval& when, Bytes moved = {});
    /// A collective as the list has it: it does not begin before it came up, as which of them it
    /// did, nor a reduction before the one ahead of it, though a pass may have begun its work.
    void collective(const Action& action, const Moment& came_up, int number, const Interval& when,
                    Bytes moved);
    /// The level of memory from `at` on; classes that have not changed are not repeated.
    void level(const Moment& at, const MemoryByClass& held);
    /// Precondition: the device is done with the step.
    StepRecord finish(MemoryPeak peak) &&;

    /// For whom a device keeps waiting: by lane what it did last, and what it has not.
    std::string progress();

private:
    struct Pending {
        std::size_t index = 0;  ///< of a span, or of a sample of memory
        Mark begin;
        Mark end;
    };
    struct Collective {
        int number = 0;
        std::size_t index = 0;  ///< of a span
        Moment came_up;
    };
    void put_in_order();
    Instant time_of(const Moment& moment) const {
        return moment.mark ? time_of(*moment.mark) : instant_of(moment.at);
    }
    Instant time_of(Mark mark) const { return instant_of(lanes_->time_of(mark)); }

    StepRecord record_;
    DeviceLanes* lanes_;
    std::vector<Pending> spans_;
    std::vector<Pending> samples_;
    std::vector<Collective> collectives_;
    MemoryByClass last_{};
};

/// The steps of all ranks as one trace without header: times count from the first action,
/// memory is that of the replica that held most.
/// Precondition: the records' instants are of one clock.
Trace trace_of(std::vector<StepRecord> records);

}  // namespace debubble::exec
