
#include <algorithm>

#include "trace/picture/document/dependencies.h"

namespace debubble::picture {
namespace {

using Index = std::optional<std::uint32_t>;

/// The dependency of a span that ended last, if it ended in the bubble before the span; else the
/// span itself, which only its own rank delayed.
std::uint32_t last_need_in_bubble(const TimelineDocument& document, std::uint32_t span,
                                  const Bubble& bubble) {
    std::uint32_t last = span;
    Instant ended = bubble.begin;
    for (const std::uint32_t needed : direct_needs(document, span)) {
        const Instant end = document.span(needed).end;
        if (end <= ended || end > document.span(span).begin) continue;
        ended = end;
        last = needed;
    }
    return last;
}

/// The compute of any rank that ends last, up to the end of the bubble: it ends a cool-down.
Index last_compute_until(const TimelineDocument& document, Instant until) {
    Index last;
    for (const Device& device : document.devices) {
        const auto later = std::ranges::upper_bound(device.work, until, {}, &Bar::end);
        for (auto bar = later; bar != device.work.begin();) {
            if (!is_work(document.span((--bar)->span).action)) continue;
            if (!last || document.span(*last).end < bar->end) last = bar->span;
            break;
        }
    }
    return last;
}

/// The action with which the rank continues after the bubble.
Index work_after(const TimelineDocument& document, const Bubble& bubble) {
    const Device* device = document.device_of(bubble.rank);
    if (device == nullptr) return std::nullopt;
    const auto next = std::ranges::lower_bound(device->work, bubble.end, {}, &Bar::begin);
    return next == device->work.end() ? std::nullopt : Index(next->span);
}

}  // namespace

std::optional<std::uint32_t> action_that_ends(const TimelineDocument& document,
                                              const Bubble& bubble) {
    const bool known = bubble.waited_for < document.trace.spans.size();
    const Index waited_for = known ? Index(bubble.waited_for) : std::nullopt;
    switch (bubble.cause) {
        case BubbleCause::OtherStage:
        case BubbleCause::Link:
        case BubbleCause::Collective:
        case BubbleCause::UnevenLoad:
        case BubbleCause::Launch: return waited_for;
        case BubbleCause::CoolDown: return last_compute_until(document, bubble.end);
        case BubbleCause::WarmUp:
        case BubbleCause::Optimizer: break;
    }
    const Index next = waited_for ? waited_for : work_after(document, bubble);
    if (!next) return std::nullopt;
    return last_need_in_bubble(document, *next, bubble);
}

}  // namespace debubble::picture
