#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/core/communicator/communicator.h"

/// One communication between threads: its participants meet, then every thread that waits for it
/// carries out a share of the work.
namespace debubble::exec::local {

enum class Pattern : std::uint8_t {
    Message,
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    ReduceScatterUneven,
    Broadcast,
    Barrier
};

/// The terms on which all participants must agree.
struct Terms {
    Pattern pattern{};
    Reduction reduction{};
    int root = 0;
    DataType type{};
    std::size_t bytes = 0;  ///< bytes of the whole, not of a part; 0 where ranks' chunks differ
    friend bool operator==(const Terms&, const Terms&) = default;
};

/// A text such as "an all-reduce (sum) of 64 bytes of fp32".
std::string to_text(const Terms& terms);

struct Participant {
    bool here = false;
    ConstBuffer in;
    Buffer out;
    std::string label;

    // The lane that does the participant's part, for tensors in a device's memory (else null). It
    // starts once the kernels of the rank have reached `ready`, and the marks around its work are
    // known once the meeting is done.
    DeviceLanes* lanes = nullptr;
    DeviceLane lane = {};
    Mark ready = {};
    MarkedInterval ran = {};

    // Chunks of unequal sizes, by position: `ins` for each rank, and `outs` from each of them.
    std::vector<ConstBuffer> ins = {};
    std::vector<Buffer> outs = {};
};

/// A communication in flight. The world's mutex guards it, but not the bytes, which belong to the
/// thread that works on them.
struct Meeting {
    Terms terms;
    std::vector<int> ranks;  ///< global ranks; of a message the sender, then the receiver
    std::vector<Participant> participants;  ///< by position
    std::vector<std::byte> copy;            ///< bytes of a message whose sender has gone on
    std::optional<Interval> copied;         ///< when they were copied

    int missing = 0;  ///< participants that have not arrived
    bool started = false;
    int next_share = 0;
    int shares_done = 0;
    int workers = 0;  ///< threads that hold a share
    Interval when;

    bool on_device() const { return participants.front().lanes != nullptr; }
    int shares() const;
    bool done() const { return started && shares_done == shares(); }
};

/// Carries out share `share` of a meeting. Shares touch different bytes, so they may run at the
/// same time, and the result does not depend on which thread runs which. On a device there is one
/// share, in which each participant's lane is asked for its part.
void carry_out(Meeting& meeting, int share);

/// A sentence about the first chunk whose size differs from the one that its receiver expects;
/// nothing where all agree. Precondition: all participants are here.
std::optional<std::string> why_chunks_differ(const Meeting& meeting);

/// A text such as "2RECV_F3 from rank 0" or "1REDUCE_GRAD among ranks 0, 2".
std::string describe(const Meeting& meeting, int position);

/// A text such as "rank 0" or "ranks 0, 2".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace debubble::exec::local

namespace debubble::exec {

/// Elements [begin, end) of every target become the reduction of those elements of all
/// sources, taken in their order; 16-bit types are added in fp32 and rounded once. All
/// have one length and type. A target may be one of the sources.
void reduce(std::span<const ConstBuffer> sources, std::span<const Buffer> targets,
            Reduction reduction, std::size_t begin, std::size_t end);

}  // namespace debubble::exec
