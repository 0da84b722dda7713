#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/units.h"

namespace debubble {

/// The purpose of a communication.
enum class CommunicationKind : std::uint8_t {
    Tensor,    ///< tensor and sequence parallelism, and experts cut over ranks
    Context,   ///< context parallelism
    Expert,    ///< all-to-all of tokens to experts and back
    Data,      ///< gradients, their norm, and parameters between replicas
    Pipeline,  ///< messages between stages, and tensors that two stages share
    Host,      ///< copies to the host's memory and back
};
inline constexpr std::size_t kCommunicationKinds = 6;

/// "tp", "cp", "ep", "dp", "pp", "host".
constexpr std::string_view name_of(CommunicationKind kind) {
    constexpr std::array<std::string_view, kCommunicationKinds> kNames{"tp", "cp", "ep",
                                                                       "dp", "pp", "host"};
    return kNames[static_cast<std::size_t>(kind)];
}

/// Time of communication, by CommunicationKind.
using DurationByKind = std::array<Duration, kCommunicationKinds>;

}  // namespace debubble
