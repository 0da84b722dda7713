#include "gui/widgets/timeline/vector_rows.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QPainterPath>

#include "gui/viewmodel/timeline/wording.h"

namespace debubble::gui {
namespace {

constexpr double kMostPerPixel = 1;  ///< bars in sight; with more, lanes are blended
constexpr double kLeastParted = 4;   ///< width of a bar that is separated from the next
constexpr double kGap = 1;
constexpr double kLeastHatchedWidth = 5;  ///< same as on the screen
constexpr double kLargestPointSize = 11;
constexpr double kSmallestPointSize = 5;  ///< small, since a page can be enlarged

/// One half-lane or lane of bars.
struct Track {
    const Layer& layer;
    const Bars& bars;
    const ColourSums& colours;
    QRectF box;  ///< box with the whole width of the axis
};

class VectorRows {
public:
    VectorRows(const Frame& frame, const QImage& raster) : frame_(frame), raster_(raster) {}

    void paint(const Row& row) {
        const Scene& scene = frame_.scene;
        for (const Side side : {Side::A, Side::B}) {
            const Device* device = scene.device(row, side);
            if (device == nullptr) continue;
            const bool of_a = side == Side::A;
            if (!row.stream) paint_work(row, side, *device, of_a ? row.bars : row.other);
            paint_streams(row, side, *device);
            paint_memory(of_a ? row.memory : row.other_memory, row, side, *device);
        }
        if (row.error.height > 0) take_from_raster(lane(row, row.error));
    }

private:
    static bool are_few(const Bars& bars, const TimeAxis& axis) {
        const auto [first, last] = bars_in(bars, axis.shown());
        return static_cast<double>(last - first) <= kMostPerPixel * axis.width();
    }

    QRectF lane(const Row& row, Band band) const {
        return {QPointF(Geometry::kGutter, frame_.y(row, band.y)),
                QSizeF(frame_.geometry.lanes_width(), band.height)};
    }

    void take_from_raster(const QRectF& box) {
        const double ratio = raster_.devicePixelRatio();
        const QRectF pixels(box.topLeft() * ratio, box.size() * ratio);
        frame_.painter.drawImage(box, raster_, pixels);
    }

    const DeviceColours& colours_of(const Layer& layer, const Device& device) const {
        const auto place = &device - layer.document->devices.data();
        return layer.colouring->devices[static_cast<std::size_t>(place)];
    }

    TimeAxis axis_of(const Layer& layer) const { return frame_.state.axis.shifted(layer.shift); }

    void paint_work(const Row& row, Side side, const Device& device, Band band) {
        if (band.height == 0) return;
        const Layer& layer = frame_.scene.layer(side);
        const DeviceColours& colours = colours_of(layer, device);
        const QRectF box = lane(row, band);
        if (!are_few(device.work, axis_of(layer))) return take_from_raster(box);
        const bool full = side == Side::A || frame_.scene.comparison;
        fill_ground(layer, box);
        if (full) paint_bubbles(layer, device, box);
        if (!colours.lower_half) {
            paint_bars({layer, device.work, colours.work, box});
        } else {
            const QSizeF half(box.width(), box.height() / 2);
            paint_bars({layer, device.work, colours.work, QRectF(box.topLeft(), half)});
            paint_bars({layer, device.work, *colours.lower_half,
                        QRectF(box.topLeft() + QPointF(0, half.height()), half)});
        }
        if (full) paint_labels(layer, device, box);
    }

    /// Fills idle time within the step; nothing outside of it.
    void fill_ground(const Layer& layer, const QRectF& box) {
        frame_.painter.fillRect(box, colour(frame_.ground().lane));
        const Palette& palette = palette_of(frame_.look.theme);
        frame_.painter.fillRect(stretch(layer, layer.document->range, box),
                                colour(palette[static_cast<std::size_t>(Paint::Bubble)]));
    }

    /// The part of a lane that belongs to a stretch of a document's time, as far as it is in sight.
    QRectF stretch(const Layer& layer, TimeRange range, const QRectF& box) const {
        const double left = std::max(frame_.x(range.begin + layer.shift), box.left());
        const double right = std::min(frame_.x(range.end + layer.shift), box.right());
        return {QPointF(left, box.top()), QPointF(std::max(left, right), box.bottom())};
    }

    void paint_bubbles(const Layer& layer, const Device& device, const QRectF& box) {
        const QBrush hatch(colour(frame_.ground().hatch), Qt::BDiagPattern);
        for (const std::uint32_t i :
             wide_bubbles(*layer.document, device, axis_of(layer), kLeastHatchedWidth)) {
            const Bubble& bubble = layer.document->bubble(i);
            frame_.painter.fillRect(stretch(layer, {bubble.begin, bubble.end}, box), hatch);
        }
    }

    void paint_bars(const Track& track) {
        const TimeAxis axis = axis_of(track.layer);
        const Rgb ground = palette_of(frame_.look.theme)[static_cast<std::size_t>(Paint::Bubble)];
        const auto [first, last] = bars_in(track.bars, axis.shown());
        for (std::size_t i = first; i < last; ++i) {
            const TimeRange range = track.bars[i].range();
            const Rgb fill = blend(track.colours.over(range), range.length(), ground);
            QRectF bar = stretch(track.layer, range, track.box);
            if (bar.width() >= kLeastParted) bar.adjust(0, 0, -kGap, 0);
            frame_.painter.fillRect(bar, colour(fill));
        }
    }

    void paint_labels(const Layer& layer, const Device& device, const QRectF& box) {
        const TimeAxis axis = axis_of(layer);
        QFont font = frame_.look.font;
        for (double size = std::min(box.height() * 0.62, kLargestPointSize);
             size >= kSmallestPointSize; size -= 1) {
            font.setPixelSize(static_cast<int>(size));
            const double letter = QFontMetricsF(font).horizontalAdvance('0');
            const LabelForm form =
                label_form(*layer.document, device, mean_width(device.work, axis), letter);
            if (form < LabelForm::LetterAndNumber && size - 1 >= kSmallestPointSize) continue;
            if (form == LabelForm::None) return;
            return paint_labels(layer, device, box, font, form);
        }
    }

    void paint_labels(const Layer& layer, const Device& device, const QRectF& box,
                      const QFont& font, LabelForm form) {
        const DeviceColours& colours = colours_of(layer, device);
        const QFontMetricsF metrics(font);
        frame_.painter.setFont(font);
        const auto [first, last] = bars_in(device.work, axis_of(layer).shown());
        for (std::size_t i = first; i < last; ++i) {
            const TimeRange range = device.work[i].range();
            const Action& action = layer.document->span(device.work[i].span).action;
            const QString text = QString::fromStdString(label_of(action, form));
            const QRectF place = stretch(layer, range, box);
            if (text.isEmpty() || metrics.horizontalAdvance(text) + 1 > place.width()) continue;
            const Rgb under = blend(colours.work.over(range), range.length(), {});
            frame_.painter.setPen(colour(ink_on(under)));
            frame_.painter.drawText(place, Qt::AlignCenter, text);
        }
    }

    void paint_streams(const Row& row, Side side, const Device& device) {
        const Band band = !row.stream ? (side == Side::A ? row.links : row.other_links)
                                      : (side == Side::A ? row.bars : row.other);
        if (band.height == 0) return;
        const QRectF box = lane(row, band);
        const Layer& layer = frame_.scene.layer(side);
        const Stream* only = frame_.scene.stream(row, side);
        std::vector<std::size_t> shown;  // several tracks share the strip of a closed row
        for (std::size_t s = 0; s < device.streams.size(); ++s) {
            const Stream& stream = device.streams[s];
            if (row.stream ? &stream != only : stream.lane == Lane::Compute) continue;
            if (!are_few(stream.bars, axis_of(layer))) return take_from_raster(box);
            shown.push_back(s);
        }
        frame_.painter.fillRect(box, colour(frame_.ground().lane));
        for (const std::size_t s : shown)
            paint_bars({layer, device.streams[s].bars, colours_of(layer, device).streams[s], box});
    }

    /// Draws the outline of the memory, with lasting memory below it; red above the limit.
    void paint_memory(Band band, const Row& row, Side side, const Device& device) {
        if (band.height == 0) return;
        const QRectF box = lane(row, band);
        if (row.heat || device.memory.empty()) return take_from_raster(box);
        const MemoryScale scale = frame_.scene.memory_scale();
        const TimeAxis axis = axis_of(frame_.scene.layer(side));
        const Ground& ground = frame_.ground();
        QPolygonF held({box.bottomLeft()});
        QPolygonF lasting({box.bottomLeft()});
        MemorySeries::Walk walk(device.memory);
        const auto height_of = [&](Bytes bytes) {
            const double share = static_cast<double>(bytes.count) /
                                 static_cast<double>(std::max<std::int64_t>(scale.top.count, 1));
            return box.bottom() - box.height() * std::clamp(share, 0.0, 1.0);
        };
        for (int x = 0; x < static_cast<int>(axis.width()); ++x) {
            const Instant begin = axis.at(x);
            const TimeRange column{begin, std::max(axis.at(x + 1), begin + Duration{1})};
            const MemorySeries::Extent extent = walk.over(column);
            const double left = box.left() + x;
            held << QPointF(left, height_of(extent.greatest))
                 << QPointF(left + 1, height_of(extent.greatest));
            lasting << QPointF(left, height_of(extent.lasting))
                    << QPointF(left + 1, height_of(extent.lasting));
        }
        held << box.bottomRight();
        lasting << box.bottomRight();
        QPainter& painter = frame_.painter;
        painter.fillRect(box, colour(ground.lane));
        fill_shape(held, colour(ground.memory_live));
        fill_shape(lasting, colour(ground.memory_lasting));
        painter.setPen(QPen(colour(ground.memory_edge), 0.75));
        painter.drawPolyline(held.sliced(1, held.size() - 2));
        if (!scale.limit) return;
        QPainterPath above;
        above.addPolygon(held);
        QPainterPath forbidden;
        forbidden.addRect(QRectF(box.topLeft(), QPointF(box.right(), height_of(*scale.limit))));
        painter.fillPath(above.intersected(forbidden), colour(ground.warning));
    }

    void fill_shape(const QPolygonF& shape, const QColor& fill) {
        frame_.painter.setPen(Qt::NoPen);
        frame_.painter.setBrush(fill);
        frame_.painter.drawPolygon(shape);
    }

    const Frame& frame_;
    const QImage& raster_;
};

}  // namespace

void paint_vector_rows(const Frame& frame, const QImage& raster) {
    VectorRows rows(frame, raster);
    frame.for_each_row([&](const Row& row) { rows.paint(row); });
}

}  // namespace debubble::gui
