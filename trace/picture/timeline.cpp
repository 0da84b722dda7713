#include "trace/picture/timeline.h"

#include <algorithm>

namespace debubble::picture {

TimeRange Timeline::range() const {
    if (!main) return {};
    TimeRange all = main.range();
    if (other)
        all = {std::min(all.begin, other.range().begin), std::max(all.end, other.range().end)};
    return all;
}

const Device* Timeline::counterpart(const Device& device) const {
    return other ? other.document->device_of(device.rank) : nullptr;
}

const Device* Timeline::device(const Row& row, Side side) const {
    const Device& device = main.document->devices[row.device];
    return side == Side::A ? &device : counterpart(device);
}

const Stream* Timeline::stream(const Row& row, Side side) const {
    const Device* found = row.stream ? device(row, side) : nullptr;
    if (found == nullptr) return nullptr;
    const Stream& of_a = main.document->devices[row.device].streams[*row.stream];
    const auto same = std::ranges::find(found->streams, of_a.name, &Stream::name);
    return same == found->streams.end() ? nullptr : &*same;
}

MemoryScale Timeline::memory_scale() const {
    if (own_memory_scale) {
        MemoryScale own{memory_top, {}};
        for (const Layer* layer : {&main, &other})
            if (*layer && (layer == &main || comparison))
                for (const Device& device : layer->document->devices)
                    own.top =
                        std::max({own.top, device.memory.greatest(),
                                  device.peak == nullptr ? Bytes{} : total(device.peak->held)});
        return own;
    }
    MemoryScale scale{std::max(memory_top, main.document->memory_top), main.document->memory_limit};
    if (!comparison) return scale;
    scale.top = std::max(scale.top, other.document->memory_top);
    if (!scale.limit) scale.limit = other.document->memory_limit;
    return scale;
}

RowNeeds Timeline::needs() const {
    const auto holds = [](const Layer& layer) {
        return layer && std::ranges::any_of(layer.document->devices,
                                            [](const Device& d) { return !d.memory.empty(); });
    };
    return {holds(main) || (comparison && holds(other)), ghost(), comparison,
            comparison ? other.document.get() : nullptr};
}

}  // namespace debubble::picture
