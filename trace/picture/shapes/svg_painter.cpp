#include "trace/picture/shapes/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "trace/picture/svg_text.h"

namespace debubble::picture {
namespace {

using svg::number;

constexpr double kBaseline = 0.36;  ///< height of half a capital letter, in font sizes

Rgb colour_of(std::uint32_t pixel) {
    const auto channel = [&](unsigned shift) { return static_cast<std::uint8_t>(pixel >> shift); };
    return {channel(16), channel(8), channel(0)};
}

/// True for columns that differ by less than one bar in ten. They are joined, since the position of
/// a bar relative to a column's edge is not a pattern.
bool nearly_equal(Rgb a, Rgb b) {
    constexpr int kTolerance = 14;
    return std::abs(a.red - b.red) <= kTolerance && std::abs(a.green - b.green) <= kTolerance &&
           std::abs(a.blue - b.blue) <= kTolerance;
}

Rgb mean_of(std::span<const std::uint32_t> pixels) {
    std::array<std::size_t, 3> sum{};
    for (const std::uint32_t pixel : pixels) {
        const Rgb c = colour_of(pixel);
        sum[0] += c.red;
        sum[1] += c.green;
        sum[2] += c.blue;
    }
    const auto channel = [&](std::size_t s) {
        return static_cast<std::uint8_t>((s + pixels.size() / 2) / pixels.size());
    };
    return {channel(sum[0]), channel(sum[1]), channel(sum[2])};
}

std::string dashes(Dash dash) {
    switch (dash) {
        case Dash::Solid: return "";
        case Dash::Dashed: return " stroke-dasharray=\"6 4\"";
        case Dash::Dotted: return " stroke-dasharray=\"1 2\"";
    }
    return "";
}

/// The end of an element, with its tip if it has one. Line breaks in the tip are kept.
std::string end_with_tip(std::string_view element, const std::string& tip) {
    if (tip.empty()) return "/>\n";
    std::string safe;
    for (std::size_t at = 0; at <= tip.size();) {
        const std::size_t end = std::min(tip.find('\n', at), tip.size());
        safe += svg::escaped(std::string_view(tip).substr(at, end - at));
        if (end < tip.size()) safe += '\n';
        at = end + 1;
    }
    return fmt::format("><title>{}</title></{}>\n", safe, element);
}

class SvgPainter {
public:
    /// `prefix` distinguishes the ids of this picture from those of another one in the same file.
    SvgPainter(std::ostream& out, std::string prefix) : out_(out), prefix_(std::move(prefix)) {}

    void paint(const Sheet& sheet, Rect page) {
        origin_ = sheet.origin;
        const bool cut = sheet.clip != page;
        if (cut) {
            const int id = static_cast<int>(clips_.size());
            const auto [place, added] = clips_.try_emplace(key(sheet.clip), id);
            if (added)
                out_ << fmt::format("<clipPath id=\"{}c{}\"><rect {}/></clipPath>\n", prefix_, id,
                                    place_of(sheet.clip));
            out_ << fmt::format("<g clip-path=\"url(#{}c{})\">\n", prefix_, place->second);
        }
        for (const Shape& shape : sheet.shapes) {
            const auto* text = std::get_if<Text>(&shape);
            if (text == nullptr) end_texts();
            std::visit([&](const auto& s) { paint(s); }, shape);
        }
        end_texts();
        if (cut) out_ << "</g>\n";
    }

private:
    using Key = std::tuple<double, double, double, double>;
    static Key key(Rect r) { return {r.x, r.y, r.width, r.height}; }

    std::string x(double value) const { return number(value + origin_.x); }
    std::string y(double value) const { return number(value + origin_.y); }
    static std::string place_of(Rect r) {
        return fmt::format(R"(x="{}" y="{}" width="{}" height="{}")", number(r.x), number(r.y),
                           number(r.width), number(r.height));
    }
    Rect moved(Rect r) const { return {r.x + origin_.x, r.y + origin_.y, r.width, r.height}; }

    void paint(const Area& area) {
        out_ << fmt::format(
            "<rect {} fill=\"{}\"{}{}{}", place_of(moved(area.rect)), hex(area.fill),
            area.opacity < 1 ? fmt::format(" fill-opacity=\"{}\"", number(area.opacity)) : "",
            area.passive ? " pointer-events=\"none\"" : "", end_with_tip("rect", area.tip));
    }

    void paint(const Frame& frame) {
        Rect r = moved(frame.rect);
        const double inside = frame.width / 2;
        r = {r.x + inside, r.y + inside, r.width - frame.width, r.height - frame.width};
        out_ << fmt::format("<rect {} fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
                            place_of(r), hex(frame.ink), number(frame.width));
    }

    /// The pointer passes through the lines to the hatched area.
    void paint(const Hatch& hatch) {
        const int id = static_cast<int>(patterns_.size());
        const auto [place, added] =
            patterns_.try_emplace(std::pair(hex(hatch.ink), hatch.thickness), id);
        if (added) {
            // Lines at 45 degrees that are a period apart horizontally.
            const std::string apart = number(kHatchPeriod / std::sqrt(2));
            out_ << fmt::format(
                R"svg(<pattern id="{4}h{0}" width="{1}" height="{1}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path stroke="{2}" stroke-width="{3}" d="M0 0v{1}"/></pattern>)svg"
                "\n",
                id, apart, hex(hatch.ink), number(2 * hatch.thickness / std::sqrt(2)), prefix_);
        }
        out_ << fmt::format("<rect {} fill=\"url(#{}h{})\" pointer-events=\"none\"/>\n",
                            place_of(moved(hatch.rect)), prefix_, place->second);
    }

    void paint(const Columns& columns) {
        const std::span<const std::uint32_t> all = columns.colours;
        if (all.empty()) return;
        const double width = columns.rect.width / static_cast<double>(all.size());
        for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
            const Rgb first_colour = colour_of(all[first]);
            while (last < all.size() && nearly_equal(colour_of(all[last]), first_colour)) ++last;
            const Rgb fill = mean_of(all.subspan(first, last - first));
            const double left = columns.rect.x + static_cast<double>(first) * width;
            const std::string wide = number(static_cast<double>(last - first) * width);
            out_ << fmt::format("<path fill=\"{}\" d=\"M{} {}h{}v{}h-{}z\"/>\n", hex(fill), x(left),
                                y(columns.rect.y), wide, number(columns.rect.height), wide);
        }
    }

    void paint(const Steps& steps) {
        if (steps.ground) paint(Area{steps.rect, *steps.ground});
        for (const Steps::Level& level : steps.levels)
            out_ << fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", hex(level.fill),
                                outline(steps.rect, level.tops));
        if (steps.edge && !steps.levels.empty())
            out_ << fmt::format(
                "<path fill=\"none\" stroke=\"{}\" stroke-width=\"0.7\" d=\"{}\"/>\n",
                hex(*steps.edge), outline(steps.rect, steps.levels[0].tops));
    }

    std::string outline(const Rect& rect, const std::vector<float>& tops) {
        const double bottom = rect.bottom();
        const double width =
            rect.width / static_cast<double>(std::max<std::size_t>(tops.size(), 1));
        std::string d = fmt::format("M{} {}", x(rect.x), y(bottom));
        double reached = bottom;
        for (std::size_t c = 0; c < tops.size(); ++c) {
            const double to =
                std::clamp(std::round(static_cast<double>(tops[c]) * 10) / 10, rect.y, bottom);
            if (to == reached) continue;
            d += fmt::format("H{}V{}", x(rect.x + static_cast<double>(c) * width), y(to));
            reached = to;
        }
        return d + fmt::format("H{}V{}Z", x(rect.right()), y(bottom));
    }

    /// Consecutive texts of one style share a group.
    void paint(const Text& text) {
        const std::tuple look(text.size, text.anchor, text.bold);
        if (texts_ != look) {
            end_texts();
            texts_ = look;
            const char* anchor = text.anchor == Anchor::Start    ? ""
                                 : text.anchor == Anchor::Middle ? " text-anchor=\"middle\""
                                                                 : " text-anchor=\"end\"";
            out_ << fmt::format("<g font-size=\"{}\"{}{} pointer-events=\"none\">\n",
                                number(text.size), anchor,
                                text.bold ? " font-weight=\"bold\"" : "");
        }
        out_ << fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", x(text.at.x),
                            y(text.at.y + text.size * kBaseline), hex(text.ink),
                            svg::escaped(text.words));
    }
    void end_texts() {
        if (texts_) out_ << "</g>\n";
        texts_.reset();
    }

    void paint(const Line& line) {
        out_ << fmt::format("<path d=\"M{} {}L{} {}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
                            x(line.from.x), y(line.from.y), x(line.to.x), y(line.to.y),
                            hex(line.ink), number(line.width), dashes(line.dash));
    }

    void paint(const Dot& dot) {
        out_ << fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" stroke=\"{}\"{}",
                            x(dot.centre.x), y(dot.centre.y), number(dot.radius), hex(dot.fill),
                            hex(dot.edge), end_with_tip("circle", dot.tip));
    }

    void paint(const Polygon& polygon) {
        std::string d;
        for (const Point& point : polygon.points)
            d += fmt::format("{}{} {}", d.empty() ? "M" : "L", x(point.x), y(point.y));
        out_ << fmt::format("<path fill=\"{}\" d=\"{}Z\"/>\n", hex(polygon.fill), d);
    }

    void paint(const Arrow& arrow) {
        const auto [first, second] = bends_of(arrow);
        out_ << fmt::format(
            "<path fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" d=\"M{} {}C{} {} {} {} {} "
            "{}\"/>\n",
            hex(arrow.ink), x(arrow.from.x), y(arrow.from.y), x(first.x), y(first.y), x(second.x),
            y(second.y), x(arrow.to.x), y(arrow.to.y));
        paint(head_of(arrow));
    }

    std::ostream& out_;
    std::string prefix_;
    Point origin_;
    std::map<Key, int> clips_;
    std::map<std::pair<std::string, double>, int> patterns_;
    std::optional<std::tuple<double, Anchor, bool>> texts_;
};

}  // namespace

void write_svg(const Sheets& sheets, double width, double height, std::ostream& out, double top) {
    out << fmt::format(
        R"svg(<svg xmlns="http://www.w3.org/2000/svg" {2}width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="DejaVu Sans, Verdana, sans-serif">)svg"
        "\n",
        number(width), number(height), top > 0 ? fmt::format("y=\"{}\" ", number(top)) : "");
    SvgPainter painter(out, top > 0 ? "lower-" : "");
    for (const Sheet& sheet : sheets) painter.paint(sheet, {0, 0, width, height});
    out << "</svg>\n";
}

}  // namespace debubble::picture
