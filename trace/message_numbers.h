#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "schedule/action.h"
#include "trace/key_numbers.h"
#include "trace/trace.h"

namespace debubble {

/// Numbers the messages of a trace, separately for each replica. In the trace of a step almost
/// every combination of producer, microbatch, slice and kind occurs, and its index among all of
/// them is its number; where a file's trace has few of many, they are numbered as they are seen.
class MessageNumbers {
public:
    /// Every message of the trace's spans and every result of its computes gets a number.
    explicit MessageNumbers(const Trace& trace);

    /// Upper bound of the numbers, exclusive.
    std::size_t count() const { return dense_ ? combinations_ : seen_.keys().size(); }
    /// Nothing if the trace cannot contain the message.
    std::optional<std::uint32_t> of(const Message& message, std::int32_t replica) const;

private:
    /// The greatest value of each part of a message's index, plus one.
    struct Extent {
        std::uint64_t replicas = 0;
        std::uint64_t producers = 0;
        std::uint64_t micro_batches = 0;
        std::uint64_t slices = 0;  ///< messages without a slice count as slice 0
    };
    Extent extent_;
    std::size_t combinations_ = 0;
    bool dense_ = true;
    KeyNumbers seen_;
};

}  // namespace debubble
