#pragma once

#include <compare>
#include <cstdint>

namespace debubble::exec::processes {

/// The n-th use of a channel of a group, or one phase of its n-th collective. Trivially
/// copyable, since it travels.
struct Place {
    std::uint64_t group = 0;
    std::int32_t kind = -1;  ///< of a collective: -1 - phase
    std::int32_t tag = 0;
    std::uint64_t number = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
};

}  // namespace debubble::exec::processes
