#include "exec/comm/processes/control.h"

#include <cstring>

namespace debubble::exec::processes {

std::vector<std::byte> pack(Header header, const std::string& first, const std::string& second,
                            std::span<const std::byte> inlined) {
    header.texts[0] = first.size();
    header.texts[1] = second.size();
    header.inlined = inlined.size();
    std::vector<std::byte> message(sizeof header + first.size() + second.size() + inlined.size());
    std::byte* end = message.data();
    const auto add = [&](const void* bytes, std::size_t size) {
        if (size > 0) std::memcpy(end, bytes, size);
        end += size;
    };
    add(&header, sizeof header);
    add(first.data(), first.size());
    add(second.data(), second.size());
    add(inlined.data(), inlined.size());
    return message;
}

std::optional<Control> unpack(std::span<const std::byte> message) {
    Control control;
    Header& header = control.header;
    if (message.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, message.data(), sizeof header);
    message = message.subspan(sizeof header);
    const auto take = [&](std::uint64_t size) -> std::optional<std::span<const std::byte>> {
        if (size > message.size()) return std::nullopt;
        const auto taken = message.first(size);
        message = message.subspan(taken.size());
        return taken;
    };
    const auto first = take(header.texts[0]), second = take(header.texts[1]);
    const auto inlined = take(header.inlined);
    const bool known = header.word >= Word::Announce && header.word <= Word::Goodbye;
    if (!known || !first || !second || !inlined || !message.empty()) return std::nullopt;
    control.description.assign(reinterpret_cast<const char*>(first->data()), first->size());
    control.content.assign(reinterpret_cast<const char*>(second->data()), second->size());
    control.inlined.assign(inlined->begin(), inlined->end());
    return control;
}

}  // namespace debubble::exec::processes
