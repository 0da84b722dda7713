#include "gui/viewmodel/timeline/scene.h"

#include <algorithm>

namespace debubble::gui {

TimeRange Scene::range() const {
    if (!main) return {};
    TimeRange all = main.range();
    if (other)
        all = {std::min(all.begin, other.range().begin), std::max(all.end, other.range().end)};
    return all;
}

const Device* Scene::counterpart(const Device& device) const {
    return other ? other.document->device_of(device.rank) : nullptr;
}

const Device* Scene::device(const Row& row, Side side) const {
    const Device& device = main.document->devices[row.device];
    return side == Side::A ? &device : counterpart(device);
}

const Stream* Scene::stream(const Row& row, Side side) const {
    const Device* found = row.stream ? device(row, side) : nullptr;
    if (found == nullptr) return nullptr;
    const Stream& of_a = main.document->devices[row.device].streams[*row.stream];
    const auto same = std::ranges::find(found->streams, of_a.name, &Stream::name);
    return same == found->streams.end() ? nullptr : &*same;
}

MemoryScale Scene::memory_scale() const {
    MemoryScale scale{main.document->memory_top, main.document->memory_limit};
    if (!comparison) return scale;
    scale.top = std::max(scale.top, other.document->memory_top);
    if (!scale.limit) scale.limit = other.document->memory_limit;
    return scale;
}

RowNeeds Scene::needs() const {
    const auto holds = [](const Layer& layer) {
        return layer && std::ranges::any_of(layer.document->devices,
                                            [](const Device& d) { return !d.memory.empty(); });
    };
    return {holds(main) || (comparison && holds(other)), ghost(), comparison};
}

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
