#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/comm/local/meeting.h"
#include "exec/comm/processes/place.h"

namespace debubble::exec::processes {

enum class Word : std::int32_t { Announce, Ask, Fail, Goodbye };

/// What engines tell each other: this, two texts, and the bytes of a small piece. All processes
/// of a job run the same program on processors of one byte order.
struct Header {
    Word word{};
    std::int32_t reserved = 0;
    Place place{};
    local::Terms terms{};
    std::uint64_t id = 0;         ///< the announcer's number of the piece
    std::uint64_t texts[2] = {};  ///< lengths: description (or sentence), content
    std::uint64_t inlined = 0;    ///< bytes of the piece behind the texts
};

struct Control {
    Header header;
    std::string description;
    std::string content;
    std::vector<std::byte> inlined;
};

std::vector<std::byte> pack(Header header, const std::string& first, const std::string& second,
                            std::span<const std::byte> inlined);
/// Unset for what no engine has packed.
std::optional<Control> unpack(std::span<const std::byte> message);

}  // namespace debubble::exec::processes
