#pragma once

#include <cstdint>

namespace debubble::exec {

/// How the values of several ranks become one.
enum class Reduction : std::uint8_t { Sum, Max };

}  // namespace debubble::exec
