#pragma once

#include <cstdint>

namespace debubble::exec {

/// How the values of several ranks are combined.
enum class Reduction : std::uint8_t { Sum, Max };

}  // namespace debubble::exec
