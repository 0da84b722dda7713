#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"
#include "trace/profile/rank_profile.h"

/// The actions of one rank, derived from a profiler's records.
namespace debubble::profile {

/// An action with its time on the rank's own clock. The peer of a Send or Recv is filled in later.
struct TimedAction {
    Action action;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t exposed = 0;  ///< exposed communication inside a compute
    std::int64_t bytes = 0;
    int step = 0;
};

/// A transfer of messages with a neighbour.
struct Exchange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t bytes = 0;
    bool sends = true;        ///< may send,
    bool receives = true;     ///< and receive
    bool blocks = true;       ///< without overlapped computes
    std::optional<int> peer;  ///< global rank of the other end, where it is recorded
};

/// How the actions were found.
enum class Evidence : std::uint8_t {
    None,     ///< no name or attention kernel shows a pass
    Named,    ///< names of passes recorded by the framework
    Anchors,  ///< attention kernels count the layers, transfers delimit the passes
};

struct RankActions {
    std::vector<TimedAction> actions;  ///< by step, then in the order of the host
    Evidence evidence = Evidence::None;
    std::vector<std::string> step_names;  ///< "ProfilerStep#10"; index is TimedAction::step
    int steps = 1;
    std::size_t fitting = 0;  ///< anchors that agree with the passes
    std::size_t anchors = 0;
    std::vector<std::string> notes;  ///< sentences
    /// The kinds of the passes of a step, where microbatches are not named: "FFBFB".
    std::vector<std::string> pass_kinds;  ///< by step
    int layers = 0;                       ///< attention kernels of a pass, where those were counted
    /// By step, then by begin: transfers that anchors leave without a message (name_passes.h).
    std::vector<std::vector<Exchange>> exchanges;
};

struct RecogniseOptions {
    int rank = 0;      ///< pipeline rank
    int pipeline = 1;  ///< ranks
    /// The attention layers of a stage, if they are known.
    std::optional<int> layers;
};

/// The rank's steps by its ProfilerStep ranges: host times. Empty without any.
struct StepRanges {
    std::vector<HostSpan> ranges;
    std::vector<std::string> names;
    /// The step in which something was launched (or ran, on a host); nothing outside of all steps.
    std::optional<int> step_at(std::int64_t host_time) const;
};
StepRanges step_ranges(const RankProfile& profile);

/// By the names that torch.distributed.pipelining gives (schedules.py of PyTorch 2.11): "PP:2F0",
/// "Forward 0". A kernel belongs to the range in which any thread launched it, and a pass lasts
/// from the first such compute kernel to the last; without a device from the first operator to the
/// last.
RankActions actions_by_names(const RankProfile& profile, const RecogniseOptions& options);

/// By attention kernels (or operators) and transfers. The passes have no microbatches yet: their
/// MicroBatch is the number of the pass of its kind in the step. Transfers have no messages yet.
RankActions actions_by_anchors(const RankProfile& profile, const RecogniseOptions& options);

/// True for an operator that transfers messages and computes nothing.
bool is_message_operator(std::string_view op);

}  // namespace debubble::profile
