#pragma once

#include <compare>
#include <cstdint>

#include "base/ids.h"

namespace debubble {

/// A tensor that crosses a stage boundary. A Send and a Recv belong together exactly when their
/// messages are equal.
struct Message {
    enum class Kind : std::uint8_t { Activation, Gradient };
    Kind kind{};
    Stage producer;  ///< the stage that computed it; its consumer is the next (previous) one
    MicroBatch micro_batch;
    friend auto operator<=>(const Message&, const Message&) = default;
};

}  // namespace debubble
