#include "trace/profile/memory_curve.h"

#include <algorithm>
#include <utility>

namespace debubble::profile {

void MemoryCurve::add(MemoryPoint point) {
    if (in_last_ == 0) {
        if (points_.size() >= 2 * most_) {
            halve();
            each_ *= 2;
        }
        points_.push_back(point);
    } else {
        points_.back().at = std::min(points_.back().at, point.at);
        points_.back().held = std::max(points_.back().held, point.held);
    }
    in_last_ = (in_last_ + 1) % each_;
}

/// Every two neighbours are merged into one, which lasts as long as both.
void MemoryCurve::halve() {
    std::ranges::stable_sort(points_, {}, &MemoryPoint::at);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points_.size(); i += 2) {
        MemoryPoint both = points_[i];
        if (i + 1 < points_.size()) both.held = std::max(both.held, points_[i + 1].held);
        points_[kept++] = both;
    }
    points_.resize(kept);
}

std::vector<MemoryPoint> MemoryCurve::take() {
    std::ranges::stable_sort(points_, {}, &MemoryPoint::at);
    while (points_.size() > most_) halve();
    each_ = 1;
    in_last_ = 0;
    return std::exchange(points_, {});
}

}  // namespace debubble::profile
