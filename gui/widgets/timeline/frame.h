#pragma once

#include <QColor>
#include <QPainter>

#include "gui/viewmodel/timeline/hit.h"
#include "gui/widgets/timeline/geometry.h"
#include "gui/widgets/timeline/look.h"

namespace debubble::gui {

inline QColor colour(Rgb c, int alpha = 255) {
    return {c.red, c.green, c.blue, alpha};
}

/// The tools of drawing, and the positions of times and rows in the view.
struct Frame {
    QPainter& painter;
    const Scene& scene;
    const ViewState& state;
    const Geometry& geometry;
    Look& look;

    const Ground& ground() const { return ground_of(look.theme); }
    double x(Instant at) const { return Geometry::kGutter + state.axis.x(at); }
    double y(const Row& row, int row_y) const { return Geometry::y_of(row, row_y, state.scroll); }
    QRectF rect(const Row& row, Band band, TimeRange range) const {
        return {QPointF(x(range.begin), y(row, band.y)),
                QPointF(x(range.end), y(row, band.bottom()))};
    }
    /// The rectangle of a span.
    std::optional<QRectF> rect(const SpanRef& ref) const {
        const auto place = place_of(scene, ref);
        if (!place) return std::nullopt;
        return rect(*place->row, place->band, place->range);
    }

    /// Visits the rows in sight; a row that scrolls is drawn only below the pinned ones.
    template <class Visit>
    void for_each_row(Visit&& visit, double left = Geometry::kGutter) const {
        for (const Row& row : scene.layout.rows) {
            if (!geometry.shows(scene.layout, row, state.scroll)) continue;
            const int top = Geometry::kTop + (row.pinned ? 0 : scene.layout.pinned_height);
            painter.setClipRect(
                QRectF(QPointF(left, top), QPointF(geometry.size.width(), geometry.size.height())));
            visit(row);
        }
        painter.setClipping(false);
    }

    QFont small_font() const {
        QFont font = look.font;
        font.setPixelSize(10);
        return font;
    }
    void text(const QRectF& box, const std::string& words, Rgb ink, Qt::Alignment side) const {
        painter.setPen(colour(ink));
        painter.drawText(box, static_cast<int>(side | Qt::AlignVCenter),
                         QString::fromStdString(words));
    }
};

}  // namespace debubble::gui
