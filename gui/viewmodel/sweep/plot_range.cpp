#include "gui/viewmodel/sweep/plot_range.h"

#include <algorithm>

namespace debubble::gui {

PlotRange moved(PlotRange shown, PlotRange whole, double by) {
    by = std::max(std::min(by, whole.high - shown.high), whole.low - shown.low);
    return {shown.low + by, shown.high + by};
}

PlotRange zoomed(PlotRange shown, PlotRange whole, double factor, double about) {
    const double length =
        std::clamp(shown.length() / factor, whole.length() / kMostEnlarged, whole.length());
    const double low = about - shown.share_of(about) * length;
    return moved({low, low + length}, whole, 0);
}

PlotRange stretch_between(double a, double b, PlotRange whole) {
    const auto [low, high] = std::minmax(a, b);
    const double least = whole.length() / kMostEnlarged;
    return moved({low, std::clamp(high, low + least, low + whole.length())}, whole, 0);
}

}  // namespace debubble::gui
