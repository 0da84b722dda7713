#pragma once

#include <QRectF>
#include <QSize>

#include "gui/viewmodel/timeline/scene.h"

namespace debubble::gui {

/// The positions of a timeline's parts, in device-independent pixels:
///
///   gutter | utilisation of the cluster, doubling as a map of the view
///          | ruler
///          | pinned rows
///          | rows, moved up by ViewState::scroll
struct Geometry {
    QSize size;

    static constexpr int kGutter = 172;
    static constexpr int kMap = 30;
    static constexpr int kRuler = 20;
    static constexpr int kTop = kMap + kRuler;

    int lanes_width() const { return std::max(size.width() - kGutter, 1); }
    int lanes_height() const { return std::max(size.height() - kTop, 1); }
    QRectF map() const { return {double{kGutter}, 0, double(lanes_width()), double{kMap}}; }
    QRectF ruler() const { return {double{kGutter}, double{kMap}, double(lanes_width()), kRuler}; }
    QRectF lanes() const {
        return {double{kGutter}, double{kTop}, double(lanes_width()), double(lanes_height())};
    }

    /// Converts a row's pixels to those of the view, and back.
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
        return top < size.height() && top + row.whole.height > least;
    }
};

}  // namespace debubble::gui
