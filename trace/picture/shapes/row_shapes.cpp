#include "trace/picture/shapes/row_shapes.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "trace/picture/document/exposed_bars.h"
#include "trace/picture/wording.h"

namespace debubble::picture {
namespace {

constexpr double kLeastHatched = 5;  ///< width of the narrowest hatched area
constexpr double kLeastBubble = 0.05;
/// Mean width below which the messages of a strip are blended.
constexpr std::size_t kPixelsOfMessage = 4;
constexpr double kBesideWords = 3;    ///< margin of a plate, left and right of its words
constexpr double kLabelShare = 0.62;  ///< size of a label's font, as a share of its bar's height

/// The widths of a device's numbers, from its first and last bars, since microbatches are numbered
/// from 0 on.
void note_numbers(LabelNumbers& numbers, const TimelineDocument& document, const Device& device) {
    const auto note = [&](const Bar& bar) {
        for_each_compute(document.span(bar.span).action, [&](const Compute& c) {
            numbers.digits = std::max(numbers.digits, to_text(c.micro_batch).size());
        });
    };
    const std::size_t sampled = std::min<std::size_t>(device.work.size(), 8);
    for (std::size_t i = 0; i < sampled; ++i) {
        note(device.work[i]);
        note(device.work[device.work.size() - 1 - i]);
    }
    if (device.stages.size() > 1)
        numbers.stage_digits =
            std::max(numbers.stage_digits, std::to_string(device.stages.back().index).size());
}

}  // namespace

LabelStyle label_style(const Timeline& timeline, const View& view) {
    LabelFont font = view.means.labels;
    LabelNumbers numbers;
    std::vector<double> widths;
    int height = 0;
    for (const Row& row : timeline.layout.rows) {
        if (!row.is_own() || row.collapsed || !view.shows(timeline, row)) continue;
        const Device& device = *timeline.device(row, Side::A);
        const TimeAxis axis = view.axis.shifted(timeline.main.shift);
        if (mean_width(device.work, axis) < font.digit * font.smallest) continue;
        note_numbers(numbers, *timeline.main.document, device);
        for (const Box& bar : visible_boxes(device.work, axis)) widths.push_back(bar.width());
        height = height == 0 ? row.bars.height : std::min(height, row.bars.height);
    }
    font.largest = std::min(font.largest, static_cast<int>(height * kLabelShare));
    return label_style(widths, numbers, font);
}

RowShapes::RowShapes(const Timeline& timeline, const View& view, LabelStyle labels)
    : timeline_(timeline), view_(view), labels_(labels), width_(view.axis.width()) {}

RowShapes::Lane RowShapes::lane(Side side, const Device& device, Band band) const {
    const Layer& layer = timeline_.layer(side);
    return {layer, device, band, view_.axis.shifted(layer.shift)};
}

Shapes RowShapes::of(const Row& row) {
    out_.clear();
    if (view_.means.background) background(row);
    for (const Side side : {Side::A, Side::B}) {
        const Device* device = timeline_.device(row, side);
        if (device == nullptr) continue;
        const Band bars = side == Side::A ? row.bars : row.other;
        // A ghost has only colours, so that nobody mistakes it for the plan itself.
        if (row.links_of) {
            links(row, side);
            continue;
        }
        if (!row.stream && bars.height > 0)
            work(lane(side, *device, bars), side == Side::A || timeline_.comparison);
        streams(row, side);
        memory(row, side);
    }
    if (row.error.height > 0) errors(row);
    return std::move(out_);
}

/// Fills the space between the bands, and the bands that may stay empty. All other pixels are
/// written by their band alone, since the time of a frame depends on the number of writes.
void RowShapes::background(const Row& row) {
    const Rgb window = view_.ground().window;
    int y = row.whole.y;
    const auto fill_to = [&](int end) {
        if (end > y) box({0, double(y), width_, double(end - y)}, window);
    };
    const bool no_other = timeline_.other && timeline_.device(row, Side::B) == nullptr;
    for (const Band band : {row.bars, row.error, row.other, row.links, row.other_links, row.memory,
                            row.other_memory, row.use, row.other_use}) {
        const bool empty = no_other && (band == row.other || band == row.other_links ||
                                        band == row.other_memory || band == row.other_use);
        if (band.height == 0 || empty) continue;
        fill_to(band.y);
        y = band.bottom();
    }
    fill_to(row.whole.bottom());
}

Rect RowShapes::rect(TimeRange range, const TimeAxis& axis, Band band) const {
    const double left = std::max(axis.x(range.begin), 0.0);
    const double right = std::min(axis.x(range.end), width_);
    return {left, double(band.y), std::max(right - left, 0.0), double(band.height)};
}

bool RowShapes::draws_singly(const Bars& bars, const TimeAxis& axis) const {
    const auto [first, last] = bars_in(bars, axis.shown());
    return last - first <= view_.means.most_boxes && view_.means.most_boxes > 0;
}

Rgb RowShapes::ink(Rgb under) {
    const auto [place, added] = inks_.try_emplace(pixel(under));
    if (added) place->second = ink_on(under);
    return place->second;
}

void RowShapes::columns(Band band, std::vector<std::uint32_t> colours) {
    out_.emplace_back(
        Columns{{0, double(band.y), width_, double(band.height)}, std::move(colours)});
}

void RowShapes::work(const Lane& lane, bool full) {
    if (!lane.layer.colouring) return work_without_colours(lane, full);
    if (draws_singly(lane.device.work, lane.axis))
        work_boxes(lane, full);
    else
        work_blended(lane, full);
    if (!full) return;
    recomputes(lane);
    pairs(lane);
    operators(lane);
    labels(lane);
}

/// Draws the kinds of work, which need no colouring: a long trace is visible while a worker colours
/// it.
void RowShapes::work_without_colours(const Lane& lane, bool full) {
    if (!full)
        return box({0, double(lane.band.y), width_, double(lane.band.height)}, view_.ground().lane);
    work_stacked(lane);
    bubbles(lane, kLeastHatched);
}

void RowShapes::work_blended(const Lane& lane, bool full) {
    if (full && is_far(lane)) {
        work_stacked(lane);
        return bubbles(lane, kLeastHatched);
    }
    const DeviceColours& colours = lane.layer.colours_of(lane.device);
    const TimeAxis axis = lane.axis.scaled(view_.means.columns);
    const Rgb idle = paint(Paint::Bubble, view_.theme);
    const BarGround ground{lane.layer.document->range, idle, view_.ground().lane};
    const ColourSums* upper[] = {&colours.work};
    columns(colours.lower_half ? upper_half(lane.band) : lane.band,
            mean_colours(upper, axis, ground));
    if (colours.lower_half) {
        const ColourSums* lower[] = {&*colours.lower_half};
        columns(lower_half(lane.band), mean_colours(lower, axis, ground));
    }
    if (!full) return;
    exposed_columns(lane);
    bubbles(lane, kLeastHatched);
    separators(lane.device.work, lane, idle);
}

void RowShapes::work_boxes(const Lane& lane, bool full) {
    const DeviceColours& colours = lane.layer.colours_of(lane.device);
    const TimelineDocument& document = *lane.layer.document;
    box({0, double(lane.band.y), width_, double(lane.band.height)}, view_.ground().lane);
    box(rect(document.range, lane.axis, lane.band), paint(Paint::Bubble, view_.theme));
    if (full) bubbles(lane, view_.means.tips ? kLeastBubble : kLeastHatched);
    const auto [first, last] = bars_in(lane.device.work, lane.axis.shown());
    for (std::size_t i = first; i < last; ++i) {
        const Bar& it = lane.device.work[i];
        const Rgb fill = colours.work.colour(i);
        if (!std::holds_alternative<Overlap>(document.span(it.span).action)) {
            bar(lane, it, fill, lane.band);
            if (full) exposed_part(lane, it, lane.band);
            continue;
        }
        bar(lane, it, fill, upper_half(lane.band));
        bar(lane, it, colours.lower_half->colour(i), lower_half(lane.band));
        if (!full) continue;
        exposed_part(lane, it, upper_half(lane.band));
        exposed_part(lane, it, lower_half(lane.band));
    }
    if (full) exposed_between(lane);
}

void RowShapes::bar(const Lane& lane, const Bar& bar, Rgb fill, Band band) {
    Area shape{rect(bar.range(), lane.axis, band), fill};
    if (view_.means.tips && shape.rect.width >= view_.means.least_tip)
        shape.tip = tip_of(*lane.layer.document, lane.layer.document->span(bar.span));
    if (shape.rect.width >= kLeastParted) shape.rect.width -= kGap;
    out_.emplace_back(std::move(shape));
}

void RowShapes::bubbles(const Lane& lane, double least_width) {
    const TimelineDocument& document = *lane.layer.document;
    for (const std::uint32_t i : wide_bubbles(document, lane.device, lane.axis, least_width)) {
        const Bubble& bubble = document.bubble(i);
        const BubbleColours colours = bubble_colours(bubble.cause, view_.theme);
        Area shape{rect({bubble.begin, bubble.end}, lane.axis, lane.band), colours.ground};
        const Rect area = shape.rect;
        if (view_.means.tips && area.width >= view_.means.least_tip)
            shape.tip = tip_of(document, bubble);
        out_.emplace_back(std::move(shape));
        if (area.width < kLeastHatched) continue;
        out_.emplace_back(Hatch{area, colours.line});
        bubble_words(bubble, colours, area);
    }
}

/// Writes the cause and the length on a plate in the middle of the visible part of a bubble, as far
/// as they fit. Their size depends only on the height of the lane, so that bubbles have words even
/// if bars are too narrow for labels.
void RowShapes::bubble_words(const Bubble& bubble, const BubbleColours& colours, Rect area) {
    const LabelFont& font = view_.means.labels;
    const double size = std::min(view_.letter(), std::floor(area.height * kLabelShare));
    if (size < font.smallest) return;
    const double letter = font.digit * size;
    const double line = size + 2 * kGap;
    std::vector<std::string> words =
        bubble_label(bubble.cause, bubble.end - bubble.begin,
                     (area.width - 2 * (kBesideWords + kGap)) / letter, int(area.height / line));
    if (words.empty()) return;
    const std::size_t longest = std::ranges::max(words, {}, &std::string::size).size();
    const double width = static_cast<double>(longest) * letter + 2 * kBesideWords;
    const double height = static_cast<double>(words.size()) * line;
    const Point middle{area.x + area.width / 2, area.y + area.height / 2};
    const Rect plate{middle.x - width / 2, middle.y - height / 2, width, height};
    out_.emplace_back(Area{.rect = plate, .fill = colours.ground, .passive = true});
    Point at{middle.x, plate.y + line / 2};
    for (std::string& text : words) {
        out_.emplace_back(Text{at, std::move(text), size, colours.words, Anchor::Middle});
        at.y += line;
    }
}

void RowShapes::recomputes(const Lane& lane) {
    if (mean_width(lane.device.work, lane.axis) < kLeastHatched) return;
    Hatch hatch = recompute_hatch(view_.theme);
    const auto [first, last] = bars_in(lane.device.work, lane.axis.shown());
    for (std::size_t i = first; i < last; ++i) {
        const Bar& bar = lane.device.work[i];
        if (!std::holds_alternative<Recompute>(lane.layer.document->span(bar.span).action))
            continue;
        hatch.rect = rect(bar.range(), lane.axis, lane.band);
        if (hatch.rect.width >= kLeastParted) hatch.rect.width -= kGap;
        out_.emplace_back(hatch);
    }
}

/// Separates equal neighbours by a line at the end of every bar that is wide enough for one.
void RowShapes::separators(const Bars& bars, const Lane& lane, Rgb ground) {
    if (mean_width(bars, lane.axis) < kLeastParted) return;
    for (const picture::Bar& bar :
         std::span(bars).subspan(bars_in(bars, lane.axis.shown()).first)) {
        const double left = lane.axis.x(bar.begin);
        const double right = lane.axis.x(bar.end);
        if (left > width_) break;
        if (right - left >= kLeastParted && right <= width_)
            box({right - kGap, double(lane.band.y), kGap, double(lane.band.height)}, ground);
    }
}

void RowShapes::labels(const Lane& lane) {
    // Rows that the user made thin have no room.
    if (labels_.form == LabelForm::None || labels_.size > lane.band.height) return;
    const DeviceColours& colours = lane.layer.colours_of(lane.device);
    const bool room_for_two = lane.band.height / 2 >= labels_.size;
    const auto [first, last] = bars_in(lane.device.work, lane.axis.shown());
    for (std::size_t i = first; i < last; ++i) {
        const picture::Bar& it = lane.device.work[i];
        const Span& span = lane.layer.document->span(it.span);
        const Action& action = span.action;
        const double exposed = shows_exposed(lane) ? exposed_share(span) : 0;
        Rect area = rect(it.range(), lane.axis, lane.band);
        if (shown_operators(lane, it) != nullptr) area.height = operator_row(lane.band).y - area.y;
        const auto* both = std::get_if<Overlap>(&action);
        if (both != nullptr && shows_parts(lane, it)) continue;  // its parts have labels
        if (both == nullptr || !room_for_two || !colours.lower_half) {
            label(action, colours.work.colour(i), area, exposed);
            continue;
        }
        label(Action{both->first}, colours.work.colour(i),
              rect(it.range(), lane.axis, upper_half(lane.band)), exposed);
        label(Action{both->second}, colours.lower_half->colour(i),
              rect(it.range(), lane.axis, lower_half(lane.band)), exposed);
    }
}

/// Draws a label in the middle of the visible part of a bar, if it fits: on the colour of the bar's
/// kind, or on that of communication if most of the bar is exposed.
void RowShapes::label(const Action& action, Rgb under, Rect bar, double exposed) {
    const double lower = bar.height * exposed;
    bar.height -= lower;
    if (exposed > 0.5) {
        bar = {bar.x, bar.y + bar.height, bar.width, lower};
        under = paint(Paint::Collective, view_.theme);
    }
    std::string words = label_of(action, labels_.form);
    if (words.empty()) return;
    const double width = digits_wide(words) * view_.means.labels.digit * labels_.size;
    if (width + 2 * kGap > bar.width) return;
    out_.emplace_back(Text{{bar.x + bar.width / 2, bar.y + bar.height / 2},
                           std::move(words),
                           static_cast<double>(labels_.size),
                           ink(under),
                           Anchor::Middle});
}

/// Draws the strip below the bars, which several streams share, or a stream's own row.
void RowShapes::streams(const Row& row, Side side) {
    const bool of_a = side == Side::A;
    const Band strip = of_a ? row.links : row.other_links;
    const Band band = !row.stream ? strip : of_a ? row.bars : row.other;
    const Device* device = band.height > 0 ? timeline_.device(row, side) : nullptr;
    if (device == nullptr) return;
    const Lane where = lane(side, *device, band);
    if (!where.layer.colouring)
        return box({0, double(band.y), width_, double(band.height)}, view_.ground().lane);
    const DeviceColours& colours = where.layer.colours_of(*device);
    const Stream* only = timeline_.stream(row, side);
    std::vector<const ColourSums*> tracks;
    std::vector<std::size_t> shown;
    std::size_t in_sight = 0;
    for (std::size_t s = 0; s < device->streams.size(); ++s) {
        const Stream& stream = device->streams[s];
        if (row.stream ? only != &stream : stream.lane == debubble::Lane::Compute) continue;
        tracks.push_back(&colours.streams[s]);
        shown.push_back(s);
        const auto [first, last] = bars_in(stream.bars, where.axis.shown());
        in_sight += last - first;
    }
    const Rgb ground = view_.ground().lane;
    if (in_sight * kPixelsOfMessage > view_.means.most_boxes || view_.means.most_boxes == 0) {
        columns(band,
                mean_colours(tracks, where.axis.scaled(view_.means.columns), {{}, ground, ground}));
        if (only != nullptr) separators(only->bars, where, ground);
        return;
    }
    box({0, double(band.y), width_, double(band.height)}, ground);
    for (const std::size_t s : shown) {
        const Bars& bars = device->streams[s].bars;
        const auto [first, last] = bars_in(bars, where.axis.shown());
        for (std::size_t i = first; i < last; ++i)
            bar(where, bars[i], colours.streams[s].colour(i), band);
    }
}

/// Draws the errors of A's actions between the two half-lanes.
void RowShapes::errors(const Row& row) {
    const Rgb ground = view_.ground().lane;
    if (!timeline_.error_colouring)
        return box({0, double(row.error.y), width_, double(row.error.height)}, ground);
    const ColourSums* track[] = {&timeline_.error_colouring->devices[row.device].work};
    const TimeAxis axis = view_.axis.shifted(timeline_.main.shift).scaled(view_.means.columns);
    columns(row.error, mean_colours(track, axis, {{}, ground, ground}));
}

}  // namespace debubble::picture
