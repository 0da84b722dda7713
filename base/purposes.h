#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "base/units.h"

/// The purposes of communication and of device memory, by which times and bytes are divided.
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
    constexpr ArrayBy<CommunicationKind, std::string_view, kCommunicationKinds> kNames{
        "tp", "cp", "ep", "dp", "pp", "host"};
    return kNames[kind];
}

/// Time of communication, by CommunicationKind.
using DurationByKind = ArrayBy<CommunicationKind, Duration, kCommunicationKinds>;

/// The purpose of a byte of device memory.
enum class MemoryClass : std::uint8_t {
    Parameters,
    Gradients,
    Optimizer,
    Activations,
    Buffers,    ///< persistent: communication buffers, library workspaces
    Workspace,  ///< lives inside a single action
};
inline constexpr std::size_t kMemoryClasses = 6;

using MemoryByClass = ArrayBy<MemoryClass, Bytes, kMemoryClasses>;

Bytes total(const MemoryByClass& held);
std::string_view name_of(MemoryClass memory_class);  ///< "parameters", ...: the keys of the JSON

}  // namespace debubble
