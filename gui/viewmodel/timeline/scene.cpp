#include "gui/viewmodel/timeline/scene.h"

namespace debubble::gui {

std::optional<TimeRange> range_of(const Scene& scene, const Selection& selection) {
    if (const auto* ref = std::get_if<SpanRef>(&selection)) {
        const Layer& layer = scene.layer(ref->side);
        if (layer && ref->index < layer.document->trace.spans.size())
            return layer.on_axis(layer.document->span(ref->index));
    }
    const auto* ref = std::get_if<BubbleRef>(&selection);
    if (ref == nullptr || !scene.main) return std::nullopt;
    if (ref->index >= scene.main.document->statistics.bubbles.size()) return std::nullopt;
    const Bubble& bubble = scene.main.document->bubble(ref->index);
    return TimeRange{bubble.begin + scene.main.shift, bubble.end + scene.main.shift};
}

}  // namespace debubble::gui
