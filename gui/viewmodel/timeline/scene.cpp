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

}  // namespace debubble::gui
