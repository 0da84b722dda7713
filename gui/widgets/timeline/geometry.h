#pragma once

#include <QFont>
#include <QRectF>
#include <QSize>

#include "gui/viewmodel/timeline/document.h"
#include "trace/picture/view.h"

namespace debubble::gui {

inline QPointF to_qt(Point p) {
    return {p.x, p.y};
}
inline QRectF to_qt(Rect r) {
    return {r.x, r.y, r.width, r.height};
}

/// The scale of the text around the lanes: 1 for a font of 9 points, as on most desktops.
double text_scale(const QFont& font);

/// The positions of a timeline's parts in a widget, in device-independent pixels.
struct Geometry : PageGeometry {
    Geometry(QSize size, double text = 1) : PageGeometry{size.width(), size.height(), text} {}

    QRectF map() const { return to_qt(PageGeometry::map()); }
    QRectF ruler() const { return to_qt(PageGeometry::ruler()); }
    QRectF lanes() const { return to_qt(PageGeometry::lanes()); }
};

}  // namespace debubble::gui
