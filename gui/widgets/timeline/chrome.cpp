#include "gui/widgets/timeline/chrome.h"

#include <algorithm>
#include <cmath>

#include <QPainterPath>

#include "gui/viewmodel/timeline/wording.h"

namespace debubble::gui {
namespace {

constexpr double kTickDistance = 90;
constexpr std::size_t kMostHitsOnMap = 4000;

const std::vector<float>& utilisation_for(const Frame& frame, const TimeAxis& whole) {
    Look& look = frame.look;
    const Layer& main = frame.scene.main;
    const auto columns = static_cast<std::size_t>(std::lround(whole.width()));
    if (look.utilisation_of != main.colouring || look.utilisation.size() != columns ||
        look.utilisation_range != whole.whole()) {
        look.utilisation = utilisation(*main.document, *main.colouring, whole.shifted(main.shift));
        look.utilisation_of = main.colouring;
        look.utilisation_range = whole.whole();
    }
    return look.utilisation;
}

void paint_utilisation(const Frame& frame, const QRectF& map, const TimeAxis& whole) {
    const double top = map.top() + 3;
    const double height = map.height() - 5;
    QPainterPath area(QPointF(map.left(), top + height));
    double x = map.left();
    for (const float share : utilisation_for(frame, whole)) {
        area.lineTo(x, top + height * (1 - share));
        x += 1;
    }
    area.lineTo(map.right(), top + height);
    frame.painter.setPen(Qt::NoPen);
    frame.painter.setBrush(colour(frame.ground().memory_lasting));
    frame.painter.drawPath(area);
}

void paint_hits(const Frame& frame, const QRectF& map, const TimeAxis& whole) {
    const Scene& scene = frame.scene;
    frame.painter.setPen(colour(frame.ground().accent));
    const std::size_t step = scene.hits.size() / kMostHitsOnMap + 1;
    for (std::size_t i = 0; i < scene.hits.size(); i += step) {
        const auto range = range_of(scene, scene.hits[i]);
        if (!range) continue;
        const double x = std::floor(map.left() + whole.x(range->begin)) + 0.5;
        frame.painter.drawLine(QPointF(x, map.bottom() - 6), QPointF(x, map.bottom() - 1));
    }
}

/// The part out of sight is dimmed, the part in sight has a frame.
void paint_window(const Frame& frame, const QRectF& map, const TimeAxis& whole) {
    const TimeRange shown = frame.state.axis.shown();
    const double left = map.left() + whole.x(shown.begin);
    const double right = std::max(map.left() + whole.x(shown.end), left + 3);
    const QColor veil = colour(frame.ground().gutter, 170);
    frame.painter.fillRect(QRectF(map.topLeft(), QPointF(left, map.bottom())), veil);
    frame.painter.fillRect(QRectF(QPointF(right, map.top()), map.bottomRight()), veil);
    frame.painter.setPen(colour(frame.ground().accent));
    frame.painter.setBrush(Qt::NoBrush);
    frame.painter.drawRect(QRectF(QPointF(left, map.top()), QPointF(right - 1, map.bottom() - 1)));
}

void paint_map(const Frame& frame) {
    const QRectF map = frame.geometry.map();
    const TimeAxis whole(frame.scene.range(), map.width());
    frame.painter.setClipRect(map);
    frame.painter.fillRect(map, colour(frame.ground().gutter));
    paint_utilisation(frame, map, whole);
    paint_window(frame, map, whole);
    paint_hits(frame, map, whole);
    frame.painter.setClipping(false);
}

void paint_ruler(const Frame& frame) {
    QPainter& painter = frame.painter;
    const QRectF ruler = frame.geometry.ruler();
    painter.setClipRect(ruler);
    painter.fillRect(ruler, colour(frame.ground().gutter));
    painter.setFont(frame.small_font());
    painter.setPen(colour(frame.ground().faint_text));
    const Instant origin = frame.scene.main.range().begin;
    for (const Tick& tick : ticks_of(frame.state.axis, origin, kTickDistance)) {
        const double x = std::floor(frame.x(tick.at)) + 0.5;
        painter.drawLine(QPointF(x, ruler.bottom() - 6), QPointF(x, ruler.bottom()));
        painter.drawText(QPointF(x + 4, ruler.bottom() - 6), QString::fromStdString(tick.text));
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour(frame.ground().accent));
    painter.setRenderHint(QPainter::Antialiasing);
    for (const Instant mark : frame.state.marks) {
        const double x = frame.x(mark);
        painter.drawPolygon(
            QPolygonF({{x - 5, ruler.top() + 2}, {x + 5, ruler.top() + 2}, {x, ruler.bottom()}}));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setClipping(false);
}

/// Three lines where there is room, two or one where there is less; warnings come first.
void paint_words(const Frame& frame, const GutterText& words, QRectF box) {
    const Ground& ground = frame.ground();
    const Rgb memory_ink = words.too_much ? ground.warning : ground.faint_text;
    const bool three = box.height() >= 44;
    const bool two = box.height() >= 30;
    const double line = two ? 14 : box.height();
    QRectF first(box.left(), box.top() + (two ? 1 : 0), box.width(), line);
    frame.painter.setFont(two ? frame.look.font : frame.small_font());
    frame.text(first, words.name, ground.text, Qt::AlignLeft);
    frame.painter.setFont(frame.small_font());
    if (!two) {
        const std::string& short_words = words.too_much ? words.memory : words.idle;
        return frame.text(first, short_words, memory_ink, Qt::AlignRight);
    }
    frame.text(first, words.copies, ground.faint_text, Qt::AlignRight);
    const QRectF second = first.translated(0, line);
    frame.text(second, words.idle, ground.faint_text, Qt::AlignLeft);
    if (three)
        frame.text(second.translated(0, line), words.memory, memory_ink, Qt::AlignLeft);
    else
        frame.text(second, words.memory, memory_ink, Qt::AlignRight);
}

/// The letters "A" and "B" next to the half-lanes of a comparison.
void paint_sides(const Frame& frame, const Row& row) {
    if (!frame.scene.comparison) return;
    frame.painter.setFont(frame.small_font());
    constexpr int kLeast = 9;  // least height of a letter
    for (const auto& [name, band] : {std::pair("A", row.bars), std::pair("B", row.other),
                                     std::pair("A", row.memory), std::pair("B", row.other_memory)})
        if (band.height >= kLeast)
            frame.text(QRectF(Geometry::kGutter - 18, frame.y(row, band.y), 12, band.height), name,
                       frame.ground().accent, Qt::AlignRight);
}

void paint_gutter(const Frame& frame) {
    const TimelineDocument& document = *frame.scene.main.document;
    const double width = Geometry::kGutter - (frame.scene.comparison ? 26 : 14);
    frame.for_each_row(
        [&](const Row& row) {
            const Device& device = document.devices[row.device];
            const QRectF box(8, frame.y(row, row.whole.y), width, row.whole.height);
            if (row.stream)
                return frame.text(box, device.streams[*row.stream].name, frame.ground().faint_text,
                                  Qt::AlignRight);
            paint_words(frame, gutter_text(document, device), box);
            paint_sides(frame, row);
        },
        0);
    frame.painter.setPen(colour(frame.ground().grid));
    frame.painter.drawLine(QPointF(Geometry::kGutter - 0.5, 0),
                           QPointF(Geometry::kGutter - 0.5, frame.geometry.size.height()));
    frame.painter.setFont(frame.look.font);
    frame.text(QRectF(8, 0, width, Geometry::kMap), "utilisation", frame.ground().faint_text,
               Qt::AlignLeft);
}

}  // namespace

void paint_chrome(const Frame& frame) {
    paint_map(frame);
    paint_ruler(frame);
    paint_gutter(frame);
}

}  // namespace debubble::gui
