#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/communication_kind.h"
#include "base/ids.h"
#include "base/memory_class.h"
#include "base/units.h"
#include "schedule/schedule.h"
#include "schedule/transport.h"

/// A record of what ran, when and where, and of the memory that it held. The simulator predicts
/// one, the executor measures one; everything downstream (reports, window, comparison) treats both
/// alike.
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
    Duration exposed{};  ///< communication inside a compute that nothing hides
    Bytes bytes;         ///< bytes that a communication moves, 0 for a compute
    /// Processor time of the rank's thread in what a pass computed itself, that is, in the length
    /// less what is exposed; 0 where nobody knows, as for computes of a device.
    Duration on_core{};
    /// The parts of `exposed` by what they serve; all are 0 where nobody knows.
    DurationByKind exposed_by{};
    Duration length() const { return end - begin; }
    friend bool operator==(const Span&, const Span&) = default;
};

/// The step of a layer that a part runs. A layer without experts exchanges nothing, and its MLP
/// stands for them.
enum class PairStep : std::uint8_t {
    Outside,    ///< what comes before the layers and after them
    Attention,  ///< with norms, shared experts, router and permutation
    Dispatch,   ///< rows on their way to experts
    Experts,
    Combine,           ///< rows on their way back, with what follows that
    AttentionWeights,  ///< weight gradients that are delayed
    ExpertWeights,
};
inline constexpr std::size_t kPairSteps = 7;
std::string_view name_of(PairStep step);  ///< "attention", "attention weights", ...
std::optional<PairStep> pair_step_named(std::string_view name);

/// A part of one of the two passes of an Overlap whose layers take turns: while one computes, the
/// other exchanges tokens between experts. It lies inside the span of the Overlap.
struct PairPart {
    Rank rank;
    std::int32_t replica = 0;
    Lane lane = Lane::Compute;  ///< Compute, or Collective for an exchange
    PairStep step = PairStep::Outside;
    Compute pass;
    std::int32_t layer = -1;  ///< number in the model; -1 before the layers and after them
    Instant begin;
    Instant end;
    /// The part of its time in which products or attention run; 0 where nobody knows. Files do not
    /// have it.
    double products = 0;
    friend bool operator==(const PairPart&, const PairPart&) = default;
};

/// From `at` until its next sample of this class, a rank holds `held` bytes of it. Inside a compute
/// that is the greatest value reached there; the buffers of messages under way are included when
/// the next compute begins or ends.
struct MemorySample {
    Instant at;
    Bytes held;
    Rank rank;
    MemoryClass held_as{};
    friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

/// The greatest sum that a rank held, inside actions too.
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

struct TraceHeader {
    std::string source;  ///< "simulated" or "executed"
    std::string scenario;
    std::string program_hash;
    int tensor = 1;
    int context = 1;
    int data = 1;
    int pipeline = 1;
    bool folded = true;  ///< one pipeline stands for all its symmetric replicas
    /// Steady-state distance of two training steps; 0 where it is the trace's own length.
    Duration step_time{};
    Transport transport = Transport::Own;
    bool sends_block = false;       ///< a rank's next compute waits for the sends listed before it
    bool copies_block = false;      ///< offloads and reloads run between the computes
    bool reductions_block = false;  ///< the next compute waits for a ReduceGrad listed before it
    ClockError clock_error = {};
    /// The cores of a host for each thread that computes on it, at most 1: where ranks are more
    /// than cores, they cannot all have one.
    double cores_per_thread = 1;
    friend bool operator==(const TraceHeader&, const TraceHeader&) = default;
};

struct Trace {
    TraceHeader header;
    std::vector<Span> spans;                ///< sorted by begin, rank, lane
    std::vector<MemorySample> memory;       ///< sorted by rank, then by time
    std::vector<MemoryPeak> peaks;          ///< one per rank, empty if memory was not followed
    Program program;                        ///< the planned program; without ranks if not known
    std::vector<PairPart> pair_parts = {};  ///< sorted by begin, rank
    friend bool operator==(const Trace&, const Trace&) = default;
};

}  // namespace debubble
