#include <algorithm>
#include <array>
#include <cmath>

#include "trace/picture/shapes/row_shapes.h"
#include "trace/picture/wording.h"

/// The parts of pairs whose layers overlap, if they fit: computes in the upper lane, the forward's
/// communication in the middle one, and the backward's in the lower one.
namespace debubble::picture {
namespace {

constexpr double kLeastPair = 24;  ///< width of the narrowest pair whose parts are drawn
constexpr double kLeastPart = 2;   ///< mean width of the parts that compute
constexpr int kLeastHeight = 12;   ///< least height of the lane
constexpr double kPartGap = 1;
constexpr double kLeastApart = 4;
constexpr double kPaleAttention = 0.35;  ///< share of the ground; experts have none
constexpr double kPaleOutside = 0.65;
constexpr double kPartLabelShare = 0.75;  ///< size of a label's font per height of its lane

/// The three lanes of a band.
struct PairLanes {
    Band compute;
    Band forward;
    Band backward;
    explicit PairLanes(Band band) {
        const int communication = band.height / 4;
        compute = {band.y, band.height - 2 * communication};
        forward = {compute.bottom(), communication};
        backward = {forward.bottom(), communication};
    }
    Band of(const PairPart& part) const {
        if (part.lane == debubble::Lane::Compute) return compute;
        return part.pass.pass == Pass::Forward ? forward : backward;
    }
};

/// The words of a part, the longest first.
std::array<std::string, 3> words_of(const PairPart& part) {
    const std::string name(name_of(part.step));
    return {label_of(Action{part.pass}, LabelForm::LetterAndNumber) + " " + name, name,
            name.substr(0, 1)};
}

}  // namespace

bool RowShapes::shows_parts(const Lane& lane, const Bar& bar) const {
    if (lane.band.height < kLeastHeight || lane.device.pair_parts.empty()) return false;
    if (!std::holds_alternative<Overlap>(lane.layer.document->span(bar.span).action)) return false;
    const double width = lane.axis.x(bar.end) - lane.axis.x(bar.begin);
    if (width < kLeastPair) return false;
    const auto parts = lane.layer.document->parts_of(lane.device, bar.range());
    return !parts.empty() && width / static_cast<double>(parts.size()) >= kLeastPart;
}

void RowShapes::pairs(const Lane& lane) {
    if (lane.device.pair_parts.empty()) return;
    const auto [first, last] = bars_in(lane.device.work, lane.axis.shown());
    for (std::size_t i = first; i < last; ++i)
        if (shows_parts(lane, lane.device.work[i])) pair(lane, i);
}

void RowShapes::pair(const Lane& lane, std::size_t index) {
    const TimelineDocument& document = *lane.layer.document;
    const Bar& whole = lane.device.work[index];
    const PairLanes lanes(lane.band);
    Rect ground = rect(whole.range(), lane.axis, lane.band);
    ground.width = std::max(0.0, ground.width - kPartGap);
    out_.emplace_back(
        Area{.rect = ground, .fill = paint(Paint::Bubble, view_.theme), .passive = true});
    for (const std::uint32_t number : document.parts_of(lane.device, whole.range())) {
        const PairPart& part = document.trace.pair_parts[number];
        const TimeRange range{part.begin, part.end};
        Area shape{rect(range, lane.axis, lanes.of(part)), colour_of(lane, index, part)};
        if (shape.rect.width <= 0) continue;
        if (view_.means.tips && shape.rect.width >= view_.means.least_tip)
            shape.tip = tip_of(document, part);
        if (shape.rect.width >= kLeastApart) shape.rect.width -= kPartGap;
        const Rect place = shape.rect;
        const Rgb under = shape.fill;
        out_.emplace_back(std::move(shape));
        part_label(part, under, place);
    }
}

Rgb RowShapes::colour_of(const Lane& lane, std::size_t index, const PairPart& part) const {
    const DeviceColours& colours = lane.layer.colours_of(lane.device);
    const bool forward = part.pass.pass == Pass::Forward;
    const Rgb of_pass = forward ? colours.work.colour(index) : colours.lower_half->colour(index);
    const bool by_kind = view_.colour_by == ColourBy::Kind;
    const Rgb window = view_.ground().window;
    if (part.lane != debubble::Lane::Compute)
        return by_kind ? paint(Paint::Collective, view_.theme) : of_pass;
    switch (part.step) {
        case PairStep::Outside: return mix(of_pass, window, kPaleOutside);
        case PairStep::Attention: return mix(of_pass, window, kPaleAttention);
        case PairStep::AttentionWeights:
        case PairStep::ExpertWeights: return by_kind ? paint(Paint::Weight, view_.theme) : of_pass;
        case PairStep::Dispatch:
        case PairStep::Combine:
        case PairStep::Experts: break;
    }
    return of_pass;
}

void RowShapes::part_label(const PairPart& part, Rgb under, Rect place) {
    words_in(words_of(part), under, place);
}

void RowShapes::words_in(std::span<const std::string> words, Rgb under, Rect place) {
    const LabelFont& font = view_.means.labels;
    const double size = std::min(view_.letter(), std::floor(place.height * kPartLabelShare));
    if (size < font.smallest) return;
    for (const std::string& one : words) {
        const double width = digits_wide(one) * font.digit * size;
        if (width + 2 * kPartGap > place.width) continue;
        out_.emplace_back(Text{{place.x + place.width / 2, place.y + place.height / 2},
                               one,
                               size,
                               ink(under),
                               Anchor::Middle});
        return;
    }
}

}  // namespace debubble::picture
