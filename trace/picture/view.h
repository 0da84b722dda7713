#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "trace/picture/labels.h"
#include "trace/picture/shapes.h"
#include "trace/picture/timeline.h"

/// The visible part of a timeline, and its look.
namespace debubble::picture {

/// The positions of a picture's parts in pixels:
///
///   title
///   legend: the causes of bubbles and the exposed communication; the colours of bars, and of
///           memory (in a line of its own if the picture is narrow)
///   gutter | utilisation of the cluster, doubling as a map of the view
///          | ruler
///          | pinned rows
///          | rows, moved up by View::scroll
struct PageGeometry {
    int width = 0;
    int height = 0;
    double scale = 1;  ///< size of all text around the lanes, and of its room

    int scaled(double length) const { return static_cast<int>(std::lround(length * scale)); }
    int gutter() const { return scaled(164); }
    int title_height() const { return scaled(18); }
    int legend_height() const { return scaled(16); }  ///< of each of its lines
    int legend_lines() const { return width < scaled(kRoomForMemory) ? 3 : 2; }
    int map_top() const { return title_height() + legend_lines() * legend_height() + 2; }
    int map_height() const { return scaled(18); }
    int ruler_height() const { return scaled(18); }
    int top() const { return map_top() + map_height() + ruler_height(); }

    int lanes_width() const { return std::max(width - gutter(), 1); }
    int lanes_height() const { return std::max(height - top(), 1); }
    Rect map() const { return right_of_gutter(map_top(), map_height()); }
    Rect ruler() const { return right_of_gutter(map_top() + map_height(), ruler_height()); }
    Rect lanes() const { return right_of_gutter(top(), lanes_height()); }

    /// Converts a row's pixels to those of the picture, and back.
    int y_of(const Row& row, int y, int scroll) const {
        return top() + y - (row.pinned ? 0 : scroll);
    }
    int row_y(const RowLayout& layout, int y, int scroll) const {
        const int below = y - top();
        return below < layout.pinned_height ? below : below + scroll;
    }
    /// Whether a part of the row is visible.
    bool shows(const RowLayout& layout, const Row& row, int scroll) const {
        const int upper = y_of(row, row.whole.y, scroll);
        const int least = top() + (row.pinned ? 0 : layout.pinned_height);
        return upper < height && upper + row.whole.height > least;
    }

private:
    static constexpr double kRoomForMemory = 1320;  ///< width of a line with all kinds and classes
    Rect right_of_gutter(int y, int high) const {
        return {double(gutter()), double(y), double(lanes_width()), double(high)};
    }
};

/// The abilities of a painter, which decide how many bars are drawn singly.
struct Means {
    double columns = 1;  ///< columns of blended lanes for each pixel
    /// Lanes with more visible bars are blended. 0 blends all lanes, as on a screen, where every
    /// pixel then has the exact mean colour of its area.
    std::size_t most_boxes = 0;
    bool tips = false;
    double least_tip = 0;     ///< width of the narrowest bar that has a tip
    bool background = false;  ///< rows are painted over older content
    LabelFont labels = {};
};

struct View {
    PageGeometry geometry;
    TimeAxis axis;  ///< as wide as the lanes
    int scroll = 0;
    Theme theme = Theme::Light;
    ColourBy colour_by = ColourBy::Kind;
    Means means = {};
    const std::vector<float>* utilisation = nullptr;  ///< of the whole range; nullptr if not known

    const Ground& ground() const { return ground_of(theme); }
    /// Size of the text in the gutter, in the legend and on bubbles.
    double letter() const { return 10 * geometry.scale; }
    double x(Instant at) const { return geometry.gutter() + axis.x(at); }
    double y(const Row& row, double row_y) const {
        return geometry.top() + row_y - (row.pinned ? 0 : scroll);
    }
    bool shows(const Timeline& timeline, const Row& row) const {
        return geometry.shows(timeline.layout, row, scroll);
    }
    /// The part of the picture, from `left` on, in which a row is visible: scrolled rows disappear
    /// under the pinned ones.
    Rect clip(const Timeline& timeline, bool pinned, double left) const {
        const double top = geometry.top() + (pinned ? 0 : timeline.layout.pinned_height);
        return {left, top, geometry.width - left, geometry.height - top};
    }
};

}  // namespace debubble::picture
