#include "gui/viewmodel/timeline/waits.h"

#include <algorithm>

namespace debubble::gui {

std::optional<BubbleRef> neighbour_bubble(const Scene& scene, const Selection& selection, int by) {
    if (!scene.main || scene.main.document->statistics.bubbles.empty()) return std::nullopt;
    const std::vector<Bubble>& bubbles = scene.main.document->statistics.bubbles;
    std::ptrdiff_t at = by > 0 ? 0 : std::ssize(bubbles) - 1;
    if (const auto* bubble = std::get_if<BubbleRef>(&selection)) {
        at = static_cast<std::ptrdiff_t>(bubble->index) + by;
    } else if (const auto* ref = std::get_if<SpanRef>(&selection)) {
        const Span& span = scene.layer(ref->side).document->span(ref->index);
        const std::pair key(span.rank,
                            scene.layer(ref->side).on_axis(span).begin - scene.main.shift);
        const auto after = std::ranges::lower_bound(
            bubbles, key, {}, [](const Bubble& b) { return std::pair(b.rank, b.begin); });
        at = after - bubbles.begin() - (by > 0 ? 0 : 1);
    }
    if (at < 0 || at >= std::ssize(bubbles)) return std::nullopt;
    return BubbleRef{static_cast<std::uint32_t>(at)};
}

}  // namespace debubble::gui
