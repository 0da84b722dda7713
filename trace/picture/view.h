#pragma once

#include <algorithm>
#include <vector>

#include "trace/picture/labels.h"
#include "trace/picture/shapes.h"
#include "trace/picture/timeline.h"

/// The part of a timeline that is in sight, and how it is drawn.
namespace debubble::picture {

/// The positions of a picture's parts, in its pixels:
///
///   title
///   legend: the causes of bubbles, the colours of bars and memory
///   gutter | utilisation of the cluster, doubling as a map of the view
///          | ruler
///          | pinned rows
///          | rows, moved up by View::scroll
struct PageGeometry {
    int width = 0;
    int height = 0;

    static constexpr int kGutter = 164;
    static constexpr int kTitle = 18;
    static constexpr int kLegend = 16;
    static constexpr int kMapTop = kTitle + kLegend + 2;
    static constexpr int kMap = 18;
    static constexpr int kRuler = 18;
    static constexpr int kTop = kMapTop + kMap + kRuler;

    int lanes_width() const { return std::max(width - kGutter, 1); }
    int lanes_height() const { return std::max(height - kTop, 1); }
    Rect map() const { return {kGutter, kMapTop, double(lanes_width()), kMap}; }
    Rect ruler() const { return {kGutter, kMapTop + kMap, double(lanes_width()), kRuler}; }
    Rect lanes() const { return {kGutter, kTop, double(lanes_width()), double(lanes_height())}; }

    /// Converts a row's pixels to those of the picture, and back.
    static int y_of(const Row& row, int y, int scroll) {
        return kTop + y - (row.pinned ? 0 : scroll);
    }
    static int row_y(const RowLayout& layout, int y, int scroll) {
        const int below = y - kTop;
        return below < layout.pinned_height ? below : below + scroll;
    }
    /// Whether some of the row is in sight.
    bool shows(const RowLayout& layout, const Row& row, int scroll) const {
        const int top = y_of(row, row.whole.y, scroll);
        const int least = kTop + (row.pinned ? 0 : layout.pinned_height);
        return top < height && top + row.whole.height > least;
    }
};

/// The means of a painter, which decide how much is drawn one by one.
struct Means {
    double columns = 1;  ///< columns of blended lanes for each pixel
    /// Lanes with more bars in sight are blended: all lanes if it is 0, as on a screen, whose every
    /// pixel then has the exact mean of what it covers.
    std::size_t most_boxes = 0;
    bool tips = false;
    double least_tip = 0;     ///< width of the narrowest bar that has a tip
    bool background = false;  ///< rows are painted over whatever was there before
    double letter = 10;       ///< size of the text beside rows and in the legend
    LabelFont labels = {};
};

struct View {
    PageGeometry geometry;
    TimeAxis axis;  ///< as wide as the lanes
    int scroll = 0;
    Theme theme = Theme::Light;
    ColourBy colour_by = ColourBy::Kind;
    Means means = {};
    const std::vector<float>* utilisation = nullptr;  ///< of the whole range, if it is known

    const Ground& ground() const { return ground_of(theme); }
    double x(Instant at) const { return PageGeometry::kGutter + axis.x(at); }
    double y(const Row& row, double row_y) const {
        return PageGeometry::kTop + row_y - (row.pinned ? 0 : scroll);
    }
    bool shows(const Timeline& timeline, const Row& row) const {
        return geometry.shows(timeline.layout, row, scroll);
    }
    /// The part of the picture where a row is drawn, from `left` on: rows that scroll vanish below
    /// the pinned ones.
    Rect clip(const Timeline& timeline, bool pinned, double left = PageGeometry::kGutter) const {
        const double top = PageGeometry::kTop + (pinned ? 0 : timeline.layout.pinned_height);
        return {left, top, geometry.width - left, geometry.height - top};
    }
};

}  // namespace debubble::picture
