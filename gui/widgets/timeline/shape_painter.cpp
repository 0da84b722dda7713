#include "gui/widgets/timeline/paint_frame.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QImage>
#include <QPainterPath>

#include "gui/widgets/timeline/geometry.h"

namespace debubble::gui {
namespace {

QColor colour(Rgb c, double opacity = 1) {
    return {c.red, c.green, c.blue, static_cast<int>(opacity * 255 + 0.5)};
}

class ShapePainter {
public:
    explicit ShapePainter(QPainter& painter) : painter_(painter), font_(painter.font()) {}

    void paint(const Area& area) {
        painter_.fillRect(to_qt(area.rect), colour(area.fill, area.opacity));
    }

    void paint(const Frame& frame) {
        const double inside = frame.width / 2;
        painter_.setPen(QPen(colour(frame.ink), frame.width));
        painter_.setBrush(Qt::NoBrush);
        painter_.drawRect(to_qt(frame.rect).adjusted(inside, inside, -inside, -inside));
    }

    void paint(const Hatch& hatch) {
        painter_.fillRect(to_qt(hatch.rect), QBrush(colour(hatch.ink), Qt::BDiagPattern));
    }

    void paint(const Columns& columns) {
        if (columns.colours.empty()) return;
        const auto count = static_cast<int>(columns.colours.size());
        const QImage line(reinterpret_cast<const uchar*>(columns.colours.data()), count, 1,
                          QImage::Format_RGB32);
        painter_.drawImage(to_qt(columns.rect), line, QRectF(0, 0, count, 1));
    }

    void paint(const Steps& steps) {
        const Rect& r = steps.rect;
        if (steps.ground) paint(Area{r, *steps.ground});
        for (const Steps::Level& level : steps.levels) {
            QPolygonF whole = upper_edge(r, level.tops);
            whole << QPointF(r.right(), r.bottom()) << QPointF(r.x, r.bottom());
            fill(whole, level.fill);
        }
        if (!steps.edge || steps.levels.empty()) return;
        painter_.setPen(QPen(colour(*steps.edge), 0.75));
        painter_.drawPolyline(upper_edge(r, steps.levels[0].tops));
    }

    static QPolygonF upper_edge(const Rect& r, const std::vector<float>& tops) {
        const double width = r.width / static_cast<double>(tops.size());
        QPolygonF edge;
        for (std::size_t c = 0; c < tops.size(); ++c) {
            const double y = std::clamp(static_cast<double>(tops[c]), r.y, r.bottom());
            const double left = r.x + static_cast<double>(c) * width;
            edge << QPointF(left, y) << QPointF(left + width, y);
        }
        return edge;
    }

    void paint(const Text& text) {
        QFont font = font_;
        font.setPixelSize(static_cast<int>(text.size + 0.5));
        font.setBold(text.bold);
        if (font != painter_.font()) painter_.setFont(font);
        const QString words = QString::fromStdString(text.words);
        const QFontMetricsF metrics(font);
        double x = text.at.x;
        if (text.anchor != Anchor::Start) {
            const double width = metrics.horizontalAdvance(words);
            x -= text.anchor == Anchor::Middle ? width / 2 : width;
        }
        painter_.setPen(colour(text.ink));
        // Letters on whole pixels are crisp.
        painter_.drawText(QPointF(std::round(x), std::round(text.at.y + metrics.capHeight() / 2)),
                          words);
    }

    void paint(const Line& line) {
        const Qt::PenStyle style = line.dash == Dash::Solid    ? Qt::SolidLine
                                   : line.dash == Dash::Dashed ? Qt::DashLine
                                                               : Qt::DotLine;
        const bool slanted = line.from.x != line.to.x && line.from.y != line.to.y;
        painter_.setRenderHint(QPainter::Antialiasing, slanted);
        painter_.setPen(QPen(colour(line.ink), line.width, style));
        painter_.drawLine(to_qt(line.from), to_qt(line.to));
        painter_.setRenderHint(QPainter::Antialiasing, false);
    }

    void paint(const Dot& dot) {
        painter_.setRenderHint(QPainter::Antialiasing);
        painter_.setPen(QPen(colour(dot.edge), 1));
        painter_.setBrush(colour(dot.fill));
        painter_.drawEllipse(to_qt(dot.centre), dot.radius, dot.radius);
        painter_.setRenderHint(QPainter::Antialiasing, false);
    }

    void paint(const Polygon& polygon) {
        QPolygonF points;
        for (const Point& point : polygon.points) points << to_qt(point);
        painter_.setRenderHint(QPainter::Antialiasing);
        fill(points, polygon.fill);
        painter_.setRenderHint(QPainter::Antialiasing, false);
    }

    void paint(const Arrow& arrow) {
        const auto [first, second] = bends_of(arrow);
        QPainterPath path(to_qt(arrow.from));
        path.cubicTo(to_qt(first), to_qt(second), to_qt(arrow.to));
        painter_.setRenderHint(QPainter::Antialiasing);
        painter_.setBrush(Qt::NoBrush);
        painter_.setPen(QPen(colour(arrow.ink), 1.5));
        painter_.drawPath(path);
        paint(head_of(arrow));
    }

private:
    void fill(const QPolygonF& shape, Rgb fill) {
        painter_.setPen(Qt::NoPen);
        painter_.setBrush(colour(fill));
        painter_.drawPolygon(shape);
    }

    QPainter& painter_;
    QFont font_;
};

}  // namespace

void paint_sheets(QPainter& painter, const Sheets& sheets) {
    const QFont font = painter.font();
    ShapePainter shapes(painter);
    for (const Sheet& sheet : sheets) {
        painter.setClipRect(to_qt(sheet.clip));
        painter.translate(to_qt(sheet.origin));
        for (const Shape& shape : sheet.shapes)
            std::visit([&](const auto& s) { shapes.paint(s); }, shape);
        painter.translate(-to_qt(sheet.origin));
    }
    painter.setClipping(false);
    painter.setFont(font);
}

}  // namespace debubble::gui
