#include "trace/picture/document/links.h"

#include <array>
#include <numeric>

namespace debubble::picture {

void NearSpans::reserve(std::size_t spans) {
    constexpr std::size_t kUsualBytes = 4;  // two entries of two bytes
    bytes_.reserve(kUsualBytes * spans);
    block_.reserve(spans / kBlock + 1);
}

void NearSpans::shrink() {
    bytes_.shrink_to_fit();
}

void NearSpans::put(std::uint64_t number) {
    for (; number >= 0x80U; number >>= 7U)
        bytes_.push_back(static_cast<std::uint8_t>(number | 0x80U));
    bytes_.push_back(static_cast<std::uint8_t>(number));
}

void NearSpans::add(const std::uint32_t* begin, const std::uint32_t* end) {
    if (count_ % kBlock == 0) block_.push_back(bytes_.size());
    if (begin == end) put(0);
    for (const std::uint32_t* span = begin; span != end; ++span) {
        const bool forwards = *span > count_;
        const std::uint64_t distance = forwards ? *span - count_ : count_ - *span;
        put(4 * distance + (forwards ? 2 : 0) + (span + 1 != end ? 1 : 0));
    }
    ++count_;
}

std::vector<std::uint32_t> NearSpans::of(std::size_t span) const {
    std::size_t at = block_[span / kBlock];
    for (std::size_t before = span % kBlock; before > 0; --before) read(at, [](std::uint64_t) {});
    std::vector<std::uint32_t> spans;
    read(at, [&](std::uint64_t entry) { spans.push_back(near(span, entry)); });
    return spans;
}

Links::Links(const SpanGraph& graph) {
    const std::size_t count = graph.trace().spans.size();
    needs_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::array<std::uint32_t, 4> list{};
        std::size_t length = 0;
        for (const std::size_t span : graph.predecessors_of(i))
            list[length++] = static_cast<std::uint32_t>(span);
        needs_.add(list.data(), list.data() + length);
    }
    needs_.shrink();
}

void Links::add_users() {
    const std::size_t count = needs_.size();
    // The users of span i are stored from first[i] to first[i + 1]. During the filling, first[i +
    // 1] is the next free element.
    std::vector<std::uint32_t> first(count + 2);
    needs_.for_each([&](std::size_t, std::uint32_t needed) { ++first[needed + 2]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> users(first.back());
    needs_.for_each([&](std::size_t span, std::uint32_t needed) {
        users[first[needed + 1]++] = static_cast<std::uint32_t>(span);
    });
    users_.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        users_.add(users.data() + first[i], users.data() + first[i + 1]);
    users_.shrink();
}

}  // namespace debubble::picture
