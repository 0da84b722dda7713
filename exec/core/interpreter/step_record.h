#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "exec/core/communicator/communicator.h"
#include "schedule/schedule.h"
#include "trace/trace.h"

/// The record of one rank's actions in one step, with their times.
namespace debubble::exec {

/// The record of a step. Instants are those of the Clock of the rank's host.
struct StepRecord {
    Rank rank;
    std::int32_t replica = 0;
    std::vector<Span> spans;           ///< in the order in which their ends became known
    std::vector<PairPart> pair_parts;  ///< in the order in which their ends became known
    std::vector<MemorySample> memory;  ///< by time
    MemoryPeak peak;
    Duration clock_error{};     ///< error of the device's clock against the host's
    Duration norm_reduction{};  ///< the part of the GradNorm in which it is summed over ranks
};

inline Instant instant_of(Clock::time_point at) {
    return Instant{std::chrono::duration_cast<Duration>(at.time_since_epoch())};
}

/// The lane on which an action runs.
Lane lane_of(const Action& action);

/// The instant of an event: known by the host's clock, or reported by a device once it is over.
struct Moment {
    Clock::time_point at;
    std::optional<Mark> mark = {};
};

/// Times of a pass on the thread of its rank.
struct PassOnHost {
    Duration exposed{};  ///< for which it waited for communication, by the clock
    Duration on_core{};  ///< for which the thread had a core in the rest of the pass
};

/// Makes the record while the step goes on. Without `lanes` it reads the host's clock; with them it
/// uses marks of the device, whose times are asked for at the end, so that nothing waits for it in
/// between.
class Recorder {
public:
    Recorder(Rank rank, std::int32_t replica, DeviceLanes* lanes = nullptr)
        : record_{rank, replica, {}, {}, {}, {}, {}}, lanes_(lanes) {}

    Moment now(DeviceLane lane = kComputeLane);

    /// Records an action. The time that a device waited is added to `on_host.exposed`.
    void span(const Action& action, const Moment& begin, const Moment& end, Bytes moved = {},
              const PassOnHost& on_host = {});
    void span(const Action& action, const Interval& when, Bytes moved = {});
    /// Records a collective in the order of the list: it does not start before the list came to it,
    /// and a reduction does not start before the one ahead of it, though a pass may have started
    /// its work. A GradNorm starts there, since a rank sums the squares of its gradients before it
    /// meets the others. `number` is the index among the requests.
    void collective(const Action& action, const Moment& came_up, int number, const Interval& when,
                    Bytes moved);
    /// Records one part of a layer, a computation or an all-to-all, in a pair of overlapped passes.
    void pair_part(const Compute& pass, PairStep step, std::optional<int> layer,
                   const Moment& begin, const Moment& end);
    void pair_part(const Compute& pass, PairStep step, std::optional<int> layer,
                   const Interval& exchange);
    /// Records the level of memory from `at` on; classes that have not changed are not repeated.
    void level(const Moment& at, const MemoryByClass& held);
    /// Completes the record. Precondition: the device is done with the step.
    StepRecord finish(MemoryPeak peak) &&;

    /// The progress of a device that keeps the host waiting: by lane, the last work that is done
    /// and the first that is not.
    std::string progress();

private:
    struct Pending {
        std::size_t index = 0;  ///< index of a span, a part of a pair, or a sample of memory
        Mark begin;
        Mark end;
    };
    struct Collective {
        int number = 0;
        std::size_t index = 0;  ///< index of a span
        Moment came_up;
    };
    void put_in_order();
    void norm(const Moment& came_up, const Interval& when, Bytes moved);
    void add_part(Lane lane, const Compute& pass, PairStep step, std::optional<int> layer,
                  const Moment& begin, const Moment& end);
    Instant time_of(const Moment& moment) const {
        return moment.mark ? time_of(*moment.mark) : instant_of(moment.at);
    }
    Instant time_of(Mark mark) const { return instant_of(lanes_->time_of(mark)); }

    StepRecord record_;
    DeviceLanes* lanes_;
    std::vector<Pending> spans_;
    std::vector<Pending> pair_parts_;
    std::vector<Pending> samples_;
    std::vector<Collective> collectives_;
    MemoryByClass last_{};
};

/// The steps of all ranks as one trace without header: times count from the first action, memory is
/// that of the replica that held most. Precondition: the records' instants are of one clock.
Trace trace_of(std::vector<StepRecord> records);

}  // namespace debubble::exec
