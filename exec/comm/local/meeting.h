#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/communicator/communicator.h"

/// One communication between threads: its parties meet, then whoever waits for it carries
/// a share of the work out.
namespace debubble::exec::local {

enum class Pattern : std::uint8_t {
    Message,
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    Barrier
};

/// What its parties must agree on.
struct Terms {
    Pattern pattern{};
    Reduction reduction{};
    int root = 0;
    DataType type{};
    std::size_t bytes = 0;  ///< of the whole, not of a part
    friend bool operator==(const Terms&, const Terms&) = default;
};

/// "an all-reduce (sum) of 64 bytes of fp32".
std::string to_text(const Terms& terms);

struct Party {
    bool here = false;
    ConstBuffer in;
    Buffer out;
    std::string label;

    // Of a device's memory (else none): the lane that does the party's part once the kernels of
    // the rank are at `ready`, and between which marks it has, once the meeting is done.
    DeviceLanes* lanes = nullptr;
    DeviceLane lane = {};
    Mark ready = {};
    MarkedInterval ran = {};
};

/// Guarded by the world's mutex but for the bytes, which belong to him who works.
struct Meeting {
    Terms terms;
    std::vector<int> ranks;          ///< global; of a message: the sender, then the receiver
    std::vector<Party> parties;      ///< by position
    std::vector<std::byte> copy;     ///< of a message whose sender went on
    std::optional<Interval> copied;  ///< when

    int missing = 0;  ///< parties that are not here
    bool started = false;
    int next_share = 0;
    int shares_done = 0;
    int workers = 0;  ///< threads that hold a share now
    Interval when;

    bool on_device() const { return parties.front().lanes != nullptr; }
    int shares() const;
    bool done() const { return started && shares_done == shares(); }
};

/// Carries share `share` of a meeting out. Shares touch different bytes, hence may run at
/// the same time, and the result does not depend on who runs which. On a device there is one, in
/// which every party's lane is asked for its part.
void carry_out(Meeting& meeting, int share);

/// "2RECV_F3 from rank 0", "1REDUCE_GRAD among ranks 0, 2".
std::string describe(const Meeting& meeting, int position);

/// "rank 0", "ranks 0, 2".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace debubble::exec::local
