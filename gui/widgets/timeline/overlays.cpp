#include "gui/widgets/timeline/overlays.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include "gui/viewmodel/timeline/hit.h"
#include "gui/viewmodel/timeline/wording.h"

namespace debubble::gui {
namespace {

QColor colour(Rgb c, int alpha = 255) {
    return {c.red, c.green, c.blue, alpha};
}

class Overlays {
public:
    Overlays(QPainter& painter, const Scene& scene, const ViewState& state,
             const Geometry& geometry, Look& look)
        : painter_(painter),
          scene_(scene),
          state_(state),
          geometry_(geometry),
          look_(look),
          ground_(ground_of(look.theme)),
          axis_(state.axis) {}

    void paint() {
        painter_.setClipRect(geometry_.lanes());
        paint_memory_marks();
        paint_ghost_end();
        paint_selection();
        paint_measured();
        painter_.setClipping(false);
        paint_map();
        paint_ruler();
        paint_gutter();
    }

private:
    double x(Instant at) const { return Geometry::kGutter + axis_.x(at); }
    double y(const Row& row, int row_y) const { return Geometry::y_of(row, row_y, state_.scroll); }
    QRectF rect(const Row& row, Band band, TimeRange range) const {
        return {QPointF(x(range.begin), y(row, band.y)),
                QPointF(x(range.end), y(row, band.bottom()))};
    }

    template <class Visit>
    void for_each_shown_row(Visit&& visit) const {
        for (const Row& row : scene_.layout.rows)
            if (geometry_.shows(scene_.layout, row, state_.scroll)) visit(row);
    }

    QFont small_font() const {
        QFont font = look_.font;
        font.setPixelSize(10);
        return font;
    }

    void paint_memory_marks() {
        const TimelineDocument& document = *scene_.main.document;
        const MemoryScale scale{document.memory_top, document.memory_limit};
        for_each_shown_row([&](const Row& row) {
            if (row.heat || row.memory.height == 0) return;
            if (document.memory_limit) {
                QPen pen(colour(ground_.warning), 1, Qt::DashLine);
                painter_.setPen(pen);
                const double at =
                    std::floor(y(row, scale.y(row.memory, *document.memory_limit))) + 0.5;
                painter_.drawLine(QPointF(Geometry::kGutter, at),
                                  QPointF(geometry_.size.width(), at));
            }
            const auto peak = peak_point(scene_, row, axis_);
            if (!peak) return;
            const bool too_much = gutter_text(document, document.devices[row.device]).too_much;
            painter_.setRenderHint(QPainter::Antialiasing);
            painter_.setPen(QPen(colour(ground_.window), 1));
            painter_.setBrush(colour(too_much ? ground_.warning : ground_.text));
            painter_.drawEllipse(
                QPointF(Geometry::kGutter + peak->x, y(row, static_cast<int>(peak->y))), 3.5, 3.5);
            painter_.setRenderHint(QPainter::Antialiasing, false);
        });
    }

    /// Where the plan before ended.
    void paint_ghost_end() {
        if (!scene_.ghost()) return;
        const double at = x(scene_.other.range().end);
        painter_.setPen(QPen(colour(ground_.faint_text), 1, Qt::DotLine));
        painter_.drawLine(QPointF(at, Geometry::kTop), QPointF(at, geometry_.size.height()));
    }

    void paint_selection() {
        const auto* span = std::get_if<SpanRef>(&state_.selection);
        const auto* bubble = std::get_if<BubbleRef>(&state_.selection);
        if (span != nullptr) outline(*span, colour(ground_.accent), 2);
        if (bubble == nullptr) return;
        const TimelineDocument& document = *scene_.main.document;
        const Bubble& b = document.bubble(bubble->index);
        const Device* device = document.device_of(b.rank);
        const Row* row =
            scene_.layout.row_of(static_cast<std::size_t>(device - document.devices.data()));
        if (row == nullptr) return;
        frame(rect(*row, row->bars, {b.begin, b.end}), colour(ground_.accent), 2);
    }

    void frame(QRectF box, const QColor& pen, double width) {
        box.setWidth(std::max(box.width(), 2.0));
        painter_.setPen(QPen(pen, width));
        painter_.setBrush(Qt::NoBrush);
        painter_.drawRect(box.adjusted(-0.5, -0.5, 0.5, -0.5));
    }

    void outline(const SpanRef& ref, const QColor& pen, double width) {
        const auto box = box_of(ref);
        if (box) frame(*box, pen, width);
    }

    /// Where a span is drawn: its device's row, or the rows of its stream.
    std::optional<QRectF> box_of(const SpanRef& ref) const {
        const auto place = place_of(scene_, ref);
        if (!place) return std::nullopt;
        return rect(*place->row, place->band, place->range);
    }

    void paint_measured() {
        if (!state_.measured) return;
        const QRectF lanes = geometry_.lanes();
        const double left = x(state_.measured->begin);
        const double right = x(state_.measured->end);
        painter_.fillRect(QRectF(QPointF(left, lanes.top()), QPointF(right, lanes.bottom())),
                          colour(ground_.accent, 28));
        painter_.setPen(colour(ground_.accent));
        for (const double at : {left, right})
            painter_.drawLine(QPointF(at, lanes.top()), QPointF(at, lanes.bottom()));
    }

    void paint_map() {
        const QRectF map = geometry_.map();
        const TimeAxis whole(scene_.range(), map.width());
        if (look_.utilisation_of != scene_.main.colouring.get() ||
            look_.utilisation.size() != static_cast<std::size_t>(std::lround(map.width()))) {
            look_.utilisation = utilisation(*scene_.main.document, *scene_.main.colouring,
                                            whole.shifted(scene_.main.shift));
            look_.utilisation_of = scene_.main.colouring.get();
        }
        painter_.fillRect(map, colour(ground_.gutter));
        const double top = map.top() + 3;
        const double height = map.height() - 5;
        painter_.setPen(Qt::NoPen);
        painter_.setBrush(colour(ground_.memory_lasting));
        QPainterPath area(QPointF(map.left(), top + height));
        for (std::size_t i = 0; i < look_.utilisation.size(); ++i)
            area.lineTo(map.left() + static_cast<double>(i),
                        top + height * (1 - look_.utilisation[i]));
        area.lineTo(map.right(), top + height);
        painter_.drawPath(area);

        // What is not in sight is dimmed, what is in sight has a frame.
        const double left = map.left() + whole.x(axis_.shown().begin);
        const double right = std::max(map.left() + whole.x(axis_.shown().end), left + 3);
        painter_.fillRect(QRectF(QPointF(map.left(), map.top()), QPointF(left, map.bottom())),
                          colour(ground_.gutter, 170));
        painter_.fillRect(QRectF(QPointF(right, map.top()), QPointF(map.right(), map.bottom())),
                          colour(ground_.gutter, 170));
        painter_.setPen(colour(ground_.accent));
        painter_.setBrush(Qt::NoBrush);
        painter_.drawRect(QRectF(QPointF(left, map.top()), QPointF(right - 1, map.bottom() - 1)));
    }

    void paint_ruler() {
        const QRectF ruler = geometry_.ruler();
        painter_.setClipRect(ruler);
        painter_.fillRect(ruler, colour(ground_.gutter));
        painter_.setFont(small_font());
        for (const Tick& tick : ticks_of(axis_, scene_.main.range().begin, 90)) {
            const double at = std::floor(x(tick.at)) + 0.5;
            painter_.setPen(colour(ground_.faint_text));
            painter_.drawLine(QPointF(at, ruler.bottom() - 6), QPointF(at, ruler.bottom()));
            painter_.drawText(QPointF(at + 4, ruler.bottom() - 6),
                              QString::fromStdString(tick.text));
        }
        painter_.setPen(colour(ground_.accent));
        for (const Instant mark : state_.marks) {
            const double at = x(mark);
            painter_.drawPolygon(QPolygonF(
                {{at - 4, ruler.top() + 2}, {at + 4, ruler.top() + 2}, {at, ruler.bottom()}}));
        }
        painter_.setClipping(false);
    }

    void paint_gutter() {
        const QRectF gutter(0, Geometry::kTop, Geometry::kGutter, geometry_.lanes_height());
        const TimelineDocument& document = *scene_.main.document;
        painter_.setClipRect(gutter);
        for_each_shown_row([&](const Row& row) {
            const Device& device = document.devices[row.device];
            const QRectF box(8, y(row, row.whole.y), Geometry::kGutter - 14, row.whole.height);
            if (row.stream)
                return text(box, device.streams[*row.stream].name, ground_.faint_text,
                            Qt::AlignRight);
            paint_gutter_of(gutter_text(document, device), box);
        });
        painter_.setClipping(false);
        painter_.setPen(colour(ground_.grid));
        painter_.drawLine(QPointF(Geometry::kGutter - 0.5, 0),
                          QPointF(Geometry::kGutter - 0.5, geometry_.size.height()));
        painter_.setFont(look_.font);
        text(QRectF(8, 0, Geometry::kGutter - 14, Geometry::kMap), "utilisation",
             ground_.faint_text, Qt::AlignLeft);
    }

    void paint_gutter_of(const GutterText& words, QRectF box) {
        const Rgb memory_colour = words.too_much ? ground_.warning : ground_.faint_text;
        const bool three = box.height() >= 44;
        const bool two = box.height() >= 30;
        painter_.setFont(two ? look_.font : small_font());
        const double line = three ? 14 : two ? 13 : box.height();
        QRectF first(box.left(), box.top() + (two ? 1 : 0), box.width(), line);
        text(first, words.name, ground_.text, Qt::AlignLeft);
        painter_.setFont(small_font());
        if (!two)
            return text(first, words.too_much ? words.memory : words.idle, memory_colour,
                        Qt::AlignRight);
        text(first, words.copies, ground_.faint_text, Qt::AlignRight);
        text(first.translated(0, line), words.idle, ground_.faint_text, Qt::AlignLeft);
        text(three ? first.translated(0, 2 * line) : first.translated(0, line), words.memory,
             memory_colour, three ? Qt::AlignLeft : Qt::AlignRight);
    }

    void text(const QRectF& box, const std::string& words, Rgb ink, Qt::Alignment side) {
        painter_.setPen(colour(ink));
        painter_.drawText(box, static_cast<int>(side | Qt::AlignVCenter),
                          QString::fromStdString(words));
    }

    QPainter& painter_;
    const Scene& scene_;
    const ViewState& state_;
    const Geometry& geometry_;
    Look& look_;
    const Ground& ground_;
    TimeAxis axis_;
};

}  // namespace

void paint_overlays(QPainter& painter, const Scene& scene, const ViewState& state,
                    const Geometry& geometry, Look& look) {
    Overlays(painter, scene, state, geometry, look).paint();
}

}  // namespace debubble::gui
