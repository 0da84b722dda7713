#include "gui/widgets/timeline/row_painter.h"

#include <algorithm>
#include <cmath>

#include "gui/viewmodel/timeline/hit.h"

namespace debubble::gui {
namespace {

constexpr int kHatchPeriod = 6;
constexpr double kLeastHatched = 5;  ///< pixels
constexpr int kSmallestFont = 7;
constexpr int kLargestFont = 11;

BarGround ground_under(const TimelineDocument& document, Theme theme) {
    return {document.range, palette_of(theme)[static_cast<std::size_t>(Paint::Bubble)],
            ground_of(theme).lane};
}

}  // namespace

RowPainter::RowPainter(const Scene& scene, const TimeAxis& axis, Theme theme, double scale,
                       const QFont& font, LabelFonts& fonts)
    : scene_(scene),
      axis_(axis),
      theme_(theme),
      scale_(scale),
      thin_(std::max(1, static_cast<int>(std::lround(scale)))),
      font_(font),
      fonts_(fonts) {}

Band RowPainter::scaled(Band band, int dy) const {
    const int top = static_cast<int>(std::lround((band.y + dy) * scale_));
    const int bottom = static_cast<int>(std::lround((band.bottom() + dy) * scale_));
    return {top, bottom - top};
}

void RowPainter::paint(const Canvas& canvas, const Row& row, int dy) {
    const TimelineDocument& document = *scene_.main.document;
    const Device& device = document.devices[row.device];
    fill_gaps(canvas, row, dy);
    if (row.stream) {
        paint_streams(canvas, row, Side::A, dy);
        return paint_streams(canvas, row, Side::B, dy);
    }
    paint_work(canvas, scaled(row.bars, dy), scene_.main, device, true);
    if (row.error.height > 0) paint_errors(canvas, scaled(row.error, dy), row.device);
    if (const Device* other = scene_.counterpart(device); other && row.other.height > 0)
        paint_work(canvas, scaled(row.other, dy), scene_.other, *other, scene_.comparison);
    for (const Side side : {Side::A, Side::B}) {
        paint_streams(canvas, row, side, dy);
        paint_memory_lane(canvas, row, side, dy);
    }
}

/// Fills the space between the bands, and the bands that may stay empty. The time of a frame
/// depends on how often its pixels are written, so the rest is written only once.
void RowPainter::fill_gaps(const Canvas& canvas, const Row& row, int dy) {
    const Rgb window = ground_of(theme_).window;
    int y = scaled(row.whole, dy).y;
    for (const Band band : {row.bars, row.error, row.other, row.links, row.other_links, row.memory,
                            row.other_memory}) {
        if (band.height == 0) continue;
        const Band next = scaled(band, dy);
        fill(canvas, 0, canvas.width, {y, next.y - y}, window);
        y = next.bottom();
    }
    fill(canvas, 0, canvas.width, {y, scaled(row.whole, dy).bottom() - y}, window);
    if (!scene_.other || scene_.device(row, Side::B) != nullptr) return;
    for (const Band band : {row.other, row.other_links, row.other_memory})
        fill(canvas, 0, canvas.width, scaled(band, dy), window);
}

/// A ghost is colour only, so that it is not taken for the plan itself.
void RowPainter::paint_work(const Canvas& canvas, Band band, const Layer& layer,
                            const Device& device, bool full) {
    const TimelineDocument& document = *layer.document;
    const TimeAxis axis = axis_.shifted(layer.shift);
    const auto place = static_cast<std::size_t>(&device - document.devices.data());
    paint_halves(canvas, band, layer.colouring->devices[place], axis,
                 ground_under(document, theme_));
    if (!full) return;
    paint_bubbles(canvas, band, document, device, axis);
    paint_recomputes(canvas, band, document, device.work, axis);
    separate(canvas, band, device.work, axis,
             palette_of(theme_)[static_cast<std::size_t>(Paint::Bubble)], thin_);
    paint_labels(canvas, band, document, device, axis);
}

/// Paints how much too long or too short A's actions are, between the two half-lanes.
void RowPainter::paint_errors(const Canvas& canvas, Band band, std::size_t device) {
    if (!scene_.error_colouring) return fill(canvas, 0, canvas.width, band, ground_of(theme_).lane);
    const ColourSums* track[] = {&scene_.error_colouring->devices[device].work};
    const Rgb ground = ground_of(theme_).lane;
    fill_columns(canvas, band,
                 mean_colours(track, axis_.shifted(scene_.main.shift), {{}, ground, ground}));
}

void RowPainter::paint_halves(const Canvas& canvas, Band band, const DeviceColours& colours,
                              const TimeAxis& axis, const BarGround& ground) {
    const ColourSums* upper[] = {&colours.work};
    fill_columns(canvas, band, mean_colours(upper, axis, ground));
    if (!colours.lower_half) return;
    const ColourSums* lower[] = {&*colours.lower_half};
    const int half = band.height / 2;
    fill_columns(canvas, {band.y + half, band.height - half}, mean_colours(lower, axis, ground));
}

void RowPainter::paint_bubbles(const Canvas& canvas, Band band, const TimelineDocument& document,
                               const Device& device, const TimeAxis& axis) {
    for (const std::uint32_t i : wide_bubbles(document, device, axis, kLeastHatched * thin_)) {
        const Bubble& bubble = document.bubble(i);
        hatch(canvas, axis.x(bubble.begin), axis.x(bubble.end), band, ground_of(theme_).hatch,
              kHatchPeriod * thin_, thin_);
    }
}

void RowPainter::paint_recomputes(const Canvas& canvas, Band band, const TimelineDocument& document,
                                  const Bars& bars, const TimeAxis& axis) {
    if (mean_width(bars, axis) < kLeastHatched * thin_) return;
    const Rgb forward = palette_of(theme_)[static_cast<std::size_t>(Paint::Forward)];
    const Rgb line = mix(forward, ground_of(theme_).window, 0.6);
    for (const Box& box : visible_boxes(bars, axis))
        if (std::holds_alternative<Recompute>(document.span(box.span).action))
            hatch(canvas, box.left, box.right, band, line, kHatchPeriod * thin_, 2 * thin_);
}

TextMasks& RowPainter::masks_of_size(int size) {
    const int pixels = static_cast<int>(std::lround(size * scale_));
    QFont font = font_;
    font.setPixelSize(pixels);
    return fonts_.try_emplace(pixels, font).first->second;
}

/// The letter repeats what the colour says: labels are rather smaller than without it.
RowPainter::Labels RowPainter::labels_for(Band band, const TimelineDocument& document,
                                          const Device& device, const TimeAxis& axis) {
    const int preferred = std::min(static_cast<int>(band.height / scale_ * 0.62), kLargestFont);
    const double width = mean_width(device.work, axis);
    Labels labels;
    for (int size = preferred; size >= kSmallestFont; --size) {
        const double letter = masks_of_size(size).letter_width();
        const LabelForm form = label_form(document, device, width, letter);
        if (form > labels.form) labels = {form, size};
        if (form >= LabelForm::LetterAndNumber) break;
    }
    return labels;
}

Rgb RowPainter::ink(Rgb under) {
    const auto [place, added] = inks_.try_emplace(pixel(under));
    if (added) place->second = ink_on(under);
    return place->second;
}

void RowPainter::paint_labels(const Canvas& canvas, Band band, const TimelineDocument& document,
                              const Device& device, const TimeAxis& axis) {
    const Labels labels = labels_for(band, document, device, axis);
    if (labels.form == LabelForm::None) return;
    const Band above{band.y, band.height / 2};
    const Band below{above.bottom(), band.height - above.height};
    const bool room_for_two = above.height >= kSmallestFont * scale_;
    for (const Box& box : visible_boxes(device.work, axis)) {
        const Action& action = document.span(box.span).action;
        const auto* overlap = std::get_if<Overlap>(&action);
        if (overlap != nullptr && room_for_two) {
            paint_label(canvas, above, box, overlap->first, labels);
            paint_label(canvas, below, box, overlap->second, labels);
        } else {
            paint_label(canvas, band, box, action, labels);
        }
    }
}

/// Paints a label in the middle of the visible part of a bar, in the ink that suits its colour
/// there.
void RowPainter::paint_label(const Canvas& canvas, Band band, const Box& box, const Action& action,
                             const Labels& labels) {
    const double left = std::max(box.left, 0.0);
    const double right = std::min(box.right, static_cast<double>(canvas.width));
    const Mask* fitting = nullptr;
    for (const LabelForm form : {labels.form, LabelForm::Number}) {
        const std::string text = label_of(action, form);
        if (text.empty()) continue;
        for (const int size : {labels.size, std::max(labels.size - 1, kSmallestFont)})
            if (const Mask& mask = masks_of_size(size).mask(text);
                fitting == nullptr && mask.width + thin_ <= right - left)
                fitting = &mask;
    }
    if (fitting == nullptr) return;
    const Mask& mask = *fitting;
    const int x = static_cast<int>((left + right - mask.width) / 2);
    const int y = band.y + (band.height - mask.height) / 2;
    const int middle = band.y + band.height / 2;
    const int probe = static_cast<int>((left + right) / 2);
    if (middle < 0 || middle >= canvas.height || probe < 0 || probe >= canvas.width) return;
    const std::uint32_t under = canvas.line(middle)[probe];
    const auto channel = [&](unsigned shift) { return static_cast<std::uint8_t>(under >> shift); };
    stamp(canvas, x, y, mask, ink({channel(16), channel(8), channel(0)}));
}

/// Paints the strip below the bars, or a stream's own row.
void RowPainter::paint_streams(const Canvas& canvas, const Row& row, Side side, int dy) {
    const bool of_a = side == Side::A;
    const Band strip = of_a ? row.links : row.other_links;
    const Band band = scaled(!row.stream ? strip : of_a ? row.bars : row.other, dy);
    const Device* device = band.height > 0 ? scene_.device(row, side) : nullptr;
    if (device == nullptr) return;
    const Layer& layer = scene_.layer(side);
    const auto place = static_cast<std::size_t>(device - layer.document->devices.data());
    const DeviceColours& colours = layer.colouring->devices[place];
    const Stream* only = scene_.stream(row, side);
    std::vector<const ColourSums*> tracks;
    for (std::size_t s = 0; s < device->streams.size(); ++s)
        if (row.stream ? only == &device->streams[s] : device->streams[s].lane != Lane::Compute)
            tracks.push_back(&colours.streams[s]);
    const Ground& ground = ground_of(theme_);
    const TimeAxis axis = axis_.shifted(layer.shift);
    fill_columns(canvas, band, mean_colours(tracks, axis, {{}, ground.lane, ground.lane}));
    if (only != nullptr) separate(canvas, band, only->bars, axis, ground.lane, thin_);
}

void RowPainter::paint_memory_lane(const Canvas& canvas, const Row& row, Side side, int dy) {
    const Band band = scaled(side == Side::A ? row.memory : row.other_memory, dy);
    const Device* device = band.height > 0 ? scene_.device(row, side) : nullptr;
    if (device == nullptr) return;
    const MemorySeries& series = device->memory;
    const MemoryScale scale = scene_.memory_scale();
    const TimeAxis axis = axis_.shifted(scene_.layer(side).shift);
    const Ground& ground = ground_of(theme_);
    if (!row.heat || series.empty()) fill(canvas, 0, canvas.width, band, ground.lane);
    if (row.heat) return paint_memory_heat(canvas, band, series, axis, scale, ground);
    paint_memory(canvas, band, series, axis, scale, ground);
}

}  // namespace debubble::gui
