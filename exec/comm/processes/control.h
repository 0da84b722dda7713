#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/comm/local/meeting.h"

/// The control messages between the engines of a job's processes.
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

enum class Word : std::int32_t { Announce, Ask, Fail, Goodbye };

/// The head of a control message between engines; two texts and the bytes of a small chunk follow
/// it. All processes of a job run the same program on processors of one byte order.
struct Header {
    Word word{};
    std::int32_t reserved = 0;
    OperationKey key{};
    local::Terms terms{};
    std::uint64_t id = 0;         ///< number of the chunk at its announcer
    std::uint64_t texts[2] = {};  ///< lengths of the description (or sentence) and of the content
    std::uint64_t inlined = 0;    ///< bytes of the chunk that follow the texts
};

struct Control {
    Header header;
    std::string description;
    std::string content;
    std::vector<std::byte> inlined;
};

std::vector<std::byte> pack(Header header, const std::string& first, const std::string& second,
                            std::span<const std::byte> inlined);
/// The parsed message; unset if no engine has packed these bytes.
std::optional<Control> unpack(std::span<const std::byte> message);

}  // namespace debubble::exec::processes
