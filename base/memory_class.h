#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/units.h"

namespace debubble {

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

using MemoryByClass = std::array<Bytes, kMemoryClasses>;  ///< indexed by MemoryClass

Bytes total(const MemoryByClass& held);
std::string_view name_of(MemoryClass memory_class);  ///< "parameters", ...: the keys of the JSON

}  // namespace debubble
