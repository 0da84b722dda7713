#include "trace/picture/svg_lane.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "text/wording.h"
#include "trace/picture/svg_text.h"

namespace debubble::svg {
namespace {

constexpr double kFontSize = 10;
constexpr double kSmallFontSize = 8;
constexpr double kLetterWidth = 0.64;  ///< width of a digit in DejaVu Sans, in font sizes
constexpr double kLightOpacity = 0.68;

std::string label_of(const Compute& c, Labels labels) {
    const std::string mb = letter_of(c.pass) + to_text(c.micro_batch);
    return labels == Labels::StageAndMicroBatch ? fmt::format("{}{}", c.stage.index, mb) : mb;
}

std::string label_of(const Action& action, Labels labels) {
    return std::visit(
        Overloaded{
            [&](const Compute& c) { return label_of(c, labels); },
            [&](const Recompute& r) { return fmt::format("R{}", to_text(r.micro_batch)); },
            [&](const OptimizerStep&) { return std::string("opt"); },
            [](const auto&) { return std::string(); },
        },
        action);
}

std::string short_label_of(const Action& action) {
    const auto* c = std::get_if<Compute>(&action);
    return c != nullptr ? to_text(c->micro_batch) : std::string();
}

std::string rect(double x, double y, double width, double height, const std::string& title) {
    std::string out = fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}")", number(x),
                                  number(y), number(width), number(height));
    return out + (title.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", title));
}

/// The mean of the paints by area; what is uncovered counts as bubble.
Rgb blend(const std::array<float, kPaints>& mixture) {
    float covered = 0;
    for (const float area : mixture) covered += area;
    const float whole = std::max(covered, 1.0F);
    std::array<float, 3> sum{};
    const auto add = [&](Rgb c, float area) {
        sum[0] += area * static_cast<float>(c.red);
        sum[1] += area * static_cast<float>(c.green);
        sum[2] += area * static_cast<float>(c.blue);
    };
    for (std::size_t p = 0; p < kPaints; ++p) add(kLightPalette[p], mixture[p] / whole);
    add(kLightPalette[static_cast<std::size_t>(Paint::Bubble)], 1 - covered / whole);
    const auto channel = [](float v) {
        return static_cast<std::uint8_t>(std::clamp(std::lround(v), 0L, 255L));
    };
    return {channel(sum[0]), channel(sum[1]), channel(sum[2])};
}

/// True for columns that differ by less than one bar in ten. They look alike and are joined: the
/// position of a bar relative to a column's edge is not a pattern.
bool alike(Rgb a, Rgb b) {
    constexpr int kTolerance = 14;
    return std::abs(a.red - b.red) <= kTolerance && std::abs(a.green - b.green) <= kTolerance &&
           std::abs(a.blue - b.blue) <= kTolerance;
}

}  // namespace

std::string fill_of(Paint paint) {
    if (paint == Paint::Recompute) return "url(#recompute)";
    if (paint == Paint::Bubble) return "url(#bubble)";
    return hex(kLightPalette[static_cast<std::size_t>(paint)]);
}

std::string describe(const Span& span) {
    std::string text =
        fmt::format("{} \u00b7 {} from {}", to_text(span.action), text::time_text(span.length()),
                    text::time_text(span.begin.time_since_epoch()));
    if (span.exposed > Duration{})
        text += " \u00b7 exposed communication " + text::time_text(span.exposed);
    if (span.bytes.count > 0)
        text += fmt::format(" \u00b7 {:.4g} MB", static_cast<double>(span.bytes.count) / 1e6);
    return text;
}

LaneWriter::LaneWriter(const Scale& scale, Band band, const LaneStyle& style)
    : scale_(scale), band_(band), style_(style) {
    if (style.merge)
        mixture_.resize(static_cast<std::size_t>(std::ceil(scale.width / style.column)));
}

bool LaneWriter::is_light(const Action& action) const {
    const auto* c = std::get_if<Compute>(&action);
    if (c == nullptr || style_.chunks.size() < 2) return false;
    const auto chunk = std::ranges::find(style_.chunks, c->stage) - style_.chunks.begin();
    return chunk % 2 == 1;
}

void LaneWriter::add(const Span& span) {
    const double from = scale_.x(span.begin);
    const double to = scale_.x(span.end);
    if (span.end <= span.begin) return;
    if (style_.merge && to - from < style_.column)
        add_to_mixture(from, to, paint_of(span.action));
    else
        add_bar(span, from, to - from);
}

void LaneWriter::add_to_mixture(double from, double to, Paint paint) {
    const auto last = static_cast<std::ptrdiff_t>(mixture_.size()) - 1;
    const auto column_of = [&](double x) {
        const auto c = static_cast<std::ptrdiff_t>((x - scale_.left) / style_.column);
        return std::clamp<std::ptrdiff_t>(c, 0, last);
    };
    for (auto c = column_of(from); c <= column_of(to); ++c) {
        const double begin = scale_.left + static_cast<double>(c) * style_.column;
        const double part = std::min(to, begin + style_.column) - std::max(from, begin);
        if (part > 0)
            mixture_[c][static_cast<std::size_t>(paint)] +=
                static_cast<float>(part / style_.column);
    }
}

void LaneWriter::add_bar(const Span& span, double x, double width) {
    const std::string title = width >= style_.least_titled ? escaped(describe(span)) : "";
    const auto paint = static_cast<std::size_t>(paint_of(span.action));
    // Leaves a hairline between neighbours, where there is room for one.
    const double shown = width > 4 ? width - 0.5 : width;
    auto& group = is_light(span.action) ? light_bars_ : bars_;
    group[paint] += rect(x, band_.y, shown, band_.height, title);
    const auto* overlap = std::get_if<Overlap>(&span.action);
    if (overlap == nullptr) return add_label(span.action, band_, x, width);
    // The first compute is drawn above, the second below.
    const Band above{band_.y, band_.height / 2};
    const Band below{band_.y + above.height, above.height};
    const auto second = static_cast<std::size_t>(paint_of(Action{overlap->second}));
    bars_[second] += rect(x, below.y, shown, below.height, title);
    add_label(overlap->first, above, x, width);
    add_label(overlap->second, below, x, width);
}

void LaneWriter::add_label(const Action& action, Band band, double x, double width) {
    if (style_.labels == Labels::None || band.height < kFontSize) return;
    // The room for the longest number decides, so that a row is labelled evenly.
    const auto fits = [&](const std::string& text, double font, std::size_t least_letters) {
        const auto letters = static_cast<double>(std::max(text.size(), least_letters));
        const double wide = text.find('W') == std::string::npos ? 0 : 0.55;
        return kLetterWidth * font * (letters + wide) <= width - 1;
    };
    double font = kFontSize;
    std::string text = label_of(action, style_.labels);
    if (!fits(text, font, style_.digits + 1)) {
        font = kSmallFontSize;
        text = short_label_of(action);
        if (text.empty() || !fits(text, font, style_.digits)) return;
    }
    const auto paint = static_cast<std::size_t>(paint_of(action));
    const bool black = is_light(action) || ink_on(kLightPalette[paint]) == Rgb{};
    labels_ += fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", number(x + width / 2),
                           number(band.y + band.height / 2 + font * 0.36),
                           black ? "" : " fill=\"#FFFFFF\"",
                           font == kFontSize ? "" : fmt::format(" font-size=\"{}\"", font), text);
}

void LaneWriter::write_mixture(std::ostream& out) const {
    constexpr std::array<float, kPaints> kNothing{};
    for (std::size_t first = 0, last = 0; first < mixture_.size(); first = last) {
        const bool empty = mixture_[first] == kNothing;
        const Rgb head = blend(mixture_[first]);
        Mixture sum{};
        for (last = first; last < mixture_.size(); ++last) {
            const Mixture& next = mixture_[last];
            if ((next == kNothing) != empty || !alike(blend(next), head)) break;
            for (std::size_t p = 0; p < kPaints; ++p) sum[p] += next[p];
        }
        if (empty) continue;
        for (float& area : sum) area /= static_cast<float>(last - first);
        const Rgb colour = blend(sum);
        const double x = scale_.left + static_cast<double>(first) * style_.column;
        const double width = static_cast<double>(last - first) * style_.column;
        out << fmt::format(R"(<path fill="{}" d="M{} {}h{}v{}h-{}z"/>)"
                           "\n",
                           hex(colour), number(x), number(band_.y), number(width),
                           number(band_.height), number(width));
    }
}

void LaneWriter::write(std::ostream& out) const {
    write_mixture(out);
    for (std::size_t p = 0; p < kPaints; ++p) {
        const std::string fill = fill_of(static_cast<Paint>(p));
        if (!bars_[p].empty()) out << fmt::format("<g fill=\"{}\">\n{}</g>\n", fill, bars_[p]);
        if (!light_bars_[p].empty())
            out << fmt::format("<g fill=\"{}\" fill-opacity=\"{}\">\n{}</g>\n", fill, kLightOpacity,
                               light_bars_[p]);
    }
    if (!labels_.empty())
        out << fmt::format(R"(<g font-size="{}" text-anchor="middle" pointer-events="none">)"
                           "\n{}</g>\n",
                           kFontSize, labels_);
}

}  // namespace debubble::svg
