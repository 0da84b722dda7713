#pragma once

#include <compare>
#include <cstdint>

namespace debubble::exec::processes {

/// The n-th use of a channel of a group, or one phase of its n-th collective. It is trivially
/// copyable, since it is sent.
struct OperationKey {
    std::uint64_t group = 0;
    std::int32_t kind = -1;  ///< kind of the message; of a collective, -1 - phase
    std::int32_t tag = 0;
    std::uint64_t number = 0;
    friend auto operator<=>(const OperationKey&, const OperationKey&) = default;
};

}  // namespace debubble::exec::processes
