#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "text/wording.h"
#include "trace/picture/shapes/row_shapes.h"

/// The operators of a wide bar in a second row: computes in the colour of the bar, exposed
/// communication in its own colour, and hidden communication as a thin line at its time.
namespace debubble::picture {
namespace {

constexpr double kLeastPass = 150;     ///< width of the narrowest bar that shows its operators
constexpr int kLeastTall = 20;         ///< least height of such a bar
constexpr double kLeastOperator = 3;   ///< width of an operator that is separated from the next
constexpr double kPaleOperator = 0.3;  ///< share of the ground in every other operator
constexpr double kHiddenLine = 2;      ///< height of the line of hidden communication

}  // namespace

Band operator_row(Band bar) {
    const int height = bar.height * 2 / 5;
    return {bar.bottom() - height, height};
}

const OperatorParts* RowShapes::shown_operators(const Lane& lane, const Bar& bar) const {
    const TimelineDocument& document = *lane.layer.document;
    if (!document.operators || lane.band.height < kLeastTall) return nullptr;
    if (lane.axis.x(bar.end) - lane.axis.x(bar.begin) < kLeastPass) return nullptr;
    const OperatorParts* parts = document.operators->of(document.span(bar.span).action);
    return parts == nullptr || parts->empty() ? nullptr : parts;
}

void RowShapes::operators(const Lane& lane) {
    if (!lane.layer.document->operators || lane.band.height < kLeastTall) return;
    const DeviceColours& colours = lane.layer.colours_of(lane.device);
    const auto [first, last] = bars_in(lane.device.work, lane.axis.shown());
    for (std::size_t i = first; i < last; ++i) {
        const picture::Bar& it = lane.device.work[i];
        if (const OperatorParts* parts = shown_operators(lane, it))
            operators_of(lane, it, colours.work.colour(i), *parts);
    }
}

void RowShapes::operators_of(const Lane& lane, const Bar& bar, Rgb fill,
                             const OperatorParts& parts) {
    const Band row = operator_row(lane.band);
    const double left = lane.axis.x(bar.begin);
    const double width = lane.axis.x(bar.end) - left - kGap;
    const auto place = [&](double begin, double end, Band band) {
        const double from = std::max(left + begin * width, 0.0);
        const double to = std::min(left + end * width, width_);
        return Rect{from, double(band.y), std::max(to - from, 0.0), double(band.height)};
    };
    const Rgb ground = view_.ground().window;
    const Rgb communication = paint(Paint::Collective, view_.theme);
    const double length = seconds(bar.end - bar.begin);
    out_.emplace_back(Area{.rect = place(0, 1, row), .fill = fill, .passive = true});
    box(place(0, 1, {row.y, 1}), ground);
    const auto tip = [&](const OperatorPart& part) {
        std::string words =
            fmt::format("{} \u00b7 {}", part.name,
                        text::time_text(from_seconds((part.end - part.begin) * length)));
        if (part.hidden > 0)
            words += fmt::format(" exposed, {} hidden",
                                 text::time_text(from_seconds(part.hidden * length)));
        return words;
    };
    bool pale = false;
    for (const OperatorPart& part : parts) {
        pale = !pale && !part.communicates;
        const Rgb colour = part.communicates ? communication
                           : pale            ? mix(fill, ground, kPaleOperator)
                                             : fill;
        Area area{place(part.begin, part.end, {row.y + 1, row.height - 1}), colour};
        if (area.rect.width <= 0) continue;
        if (view_.means.tips && area.rect.width >= view_.means.least_tip) area.tip = tip(part);
        if (area.rect.width >= kLeastOperator) area.rect.width -= kGap;
        const Rect shown = area.rect;
        out_.emplace_back(std::move(area));
        const std::array names{part.name, part.name.substr(part.name.rfind('.') + 1)};
        words_in(names, colour, shown);
    }
    for (const OperatorPart& part : parts) {
        if (part.hidden <= 0) continue;
        Rect line = place(part.end, std::min(part.end + part.hidden, 1.0), row);
        if (line.width <= 0) continue;
        line = {line.x, line.bottom() - kHiddenLine, line.width, kHiddenLine};
        Area area{line, communication};
        if (view_.means.tips) area.tip = tip(part);
        out_.emplace_back(std::move(area));
    }
}

}  // namespace debubble::picture
