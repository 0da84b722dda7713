#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/purposes.h"
#include "base/units.h"
#include "schedule/schedule.h"
#include "schedule/transport.h"
#include "trace/exposed_parts.h"

/// A record of the actions that ran, where and when, and of the memory that was held. The simulator
/// predicts one, the executor measures one; everything downstream (reports, window, comparison)
/// handles both in the same way.
namespace debubble {

/// The part of a rank on which a span ran. Lanes of one rank run at the same time.
enum class Lane : std::uint8_t { Compute, Send, Recv, Collective, Copy };

struct Span {
    Rank rank;
    std::int32_t replica = 0;  ///< 0 when the symmetric replicas are folded into one
    Lane lane = Lane::Compute;
    Action action;
    Instant begin;
    Instant end;
    Duration exposed{};  ///< exposed communication inside a compute
    Bytes bytes;         ///< bytes that a communication moves, 0 for a compute
    /// Processor time of the rank's thread in the own computing of a pass, that is, in the length
    /// less the exposed time; 0 where it is unknown, as for computes of a device.
    Duration on_core{};
    /// Number of the parts of `exposed` by purpose, which Trace::exposed_by looks up; 0 where they
    /// are unknown.
    std::uint32_t exposed_parts = 0;
    Duration length() const { return end - begin; }
    friend bool operator==(const Span&, const Span&) = default;
};

/// The step of a layer that a part runs. A layer without experts has no all-to-all, and its MLP
/// takes their place.
enum class PairStep : std::uint8_t {
    Outside,    ///< before the layers and after them
    Attention,  ///< with norms, shared experts, router and permutation
    Dispatch,   ///< all-to-all of tokens to experts
    Experts,
    Combine,           ///< all-to-all of tokens back, with the work after it
    AttentionWeights,  ///< delayed weight gradients
    ExpertWeights,
};
inline constexpr std::size_t kPairSteps = 7;
std::string_view name_of(PairStep step);  ///< "attention", "attention weights", ...
std::optional<PairStep> pair_step_named(std::string_view name);

/// A part of one of the two passes of an Overlap whose layers alternate: while one computes, the
/// other runs its all-to-all. It lies inside the span of the Overlap.
struct PairPart {
    Rank rank;
    std::int32_t replica = 0;
    Lane lane = Lane::Compute;  ///< Compute, or Collective for an all-to-all
    PairStep step = PairStep::Outside;
    Compute pass;
    std::optional<std::int32_t> layer = {};  ///< number in the model; unset for Outside
    Instant begin;
    Instant end;
    /// The part of its time in which GEMMs or attention run; 0 where it is unknown. Files do not
    /// have it.
    double products = 0;
    friend bool operator==(const PairPart&, const PairPart&) = default;
};

/// From `at` until its next sample of this class, a rank holds `held` bytes of it. Inside a compute
/// that is the maximum reached there; the buffers of messages in flight are included when the next
/// compute begins or ends.
struct MemorySample {
    Instant at;
    Bytes held;
    Rank rank;
    MemoryClass held_as{};
    friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

/// The greatest sum that a rank held, also inside actions.
struct MemoryPeak {
    Instant at;
    MemoryByClass held;
    std::string action;  ///< text form of the action that ran at the peak
    std::string op;      ///< the operator in it that allocated last
    friend bool operator==(const MemoryPeak&, const MemoryPeak&) = default;
};

/// The possible error of times relative to each other.
struct ClockError {
    Duration ranks{};  ///< error between two ranks
    Duration lanes{};  ///< error within one rank: its device's clock against its host's
    friend bool operator==(const ClockError&, const ClockError&) = default;
};

/// Where the times of a trace come from.
enum class TraceSource : std::uint8_t {
    Simulated,
    Executed,  ///< by debubble-exec
    Replayed,  ///< simulated with durations of an executed trace
    Profiled,  ///< by another framework, read from its profiles
};
std::string_view name_of(TraceSource source);  ///< "simulated", ...
std::optional<TraceSource> trace_source_named(std::string_view name);

/// What a trace is of. Whoever makes a trace makes its header by one expression.
struct TraceHeader {
    std::optional<TraceSource> source = {};  ///< unset where a file does not state it
    std::string scenario = {};
    std::string program_hash = {};
    int tensor = 1;
    int context = 1;
    int data = 1;
    int pipeline = 1;
    bool folded = true;  ///< one pipeline represents all its symmetric replicas
    /// Steady-state distance of two training steps; unset where it is the trace's own length.
    std::optional<Duration> step_time = {};
    Transport transport = Transport::Own;
    bool sends_block = false;       ///< a rank's next compute waits for the sends listed before it
    bool copies_block = false;      ///< offloads and reloads run between the computes
    bool reductions_block = false;  ///< the next compute waits for a ReduceGrad listed before it
    ClockError clock_error = {};
    /// The cores of a host for each thread that computes on it, at most 1: where ranks outnumber
    /// cores, they cannot all have one.
    double cores_per_thread = 1;
    friend bool operator==(const TraceHeader&, const TraceHeader&) = default;

    /// The name of the source; empty if it is not stated.
    std::string_view source_name() const { return source ? name_of(*source) : std::string_view(); }
};

struct Trace {
    TraceHeader header;
    std::vector<Span> spans;                ///< sorted by begin, rank, lane
    std::vector<MemorySample> memory;       ///< sorted by rank, then by time
    std::vector<MemoryPeak> peaks;          ///< one per rank, empty if memory was not followed
    Program program;                        ///< the planned program; without ranks if not known
    std::vector<PairPart> pair_parts = {};  ///< sorted by begin, rank
    ExposedParts exposed_parts = {};        ///< of the spans

    /// The parts of a span's exposed time by purpose; all are 0 where they are unknown.
    DurationByKind exposed_by(const Span& span) const {
        return exposed_parts.of(span.exposed_parts);
    }
    friend bool operator==(const Trace&, const Trace&) = default;
};

}  // namespace debubble
