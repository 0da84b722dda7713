#include "sim/measured/accuracy_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "text/wording.h"
#include "trace/picture/svg_text.h"

namespace debubble::sim {
namespace {

using Rows = std::vector<const MeasuredComparison*>;

constexpr double kSide = 560;    ///< side of a panel's square, in pixels
constexpr double kLeft = 70;     ///< for the label of the vertical axis
constexpr double kTop = 44;      ///< for the title
constexpr double kBelow = 56;    ///< for the label of the horizontal axis
constexpr double kBetween = 40;  ///< two panels
constexpr double kLegend = 250;  ///< columns of the legend
constexpr double kBand = 0.10;   ///< error at the edge of the band
constexpr double kFontSize = 12;
/// Colours and shapes distinguish tables: seven colours of Okabe and Ito (2008) times three shapes.
constexpr std::array<std::string_view, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#E69F00", "#56B4E9", "#000000"};

struct Axis {
    double low = 0;  ///< logarithms to base 10
    double high = 1;
    double at(double seconds) const { return (std::log10(seconds) - low) / (high - low) * kSide; }
};

Axis axis_of(const Rows& rows) {
    double least = rows.front()->time->measured;
    double most = least;
    for (const MeasuredComparison* row : rows)
        for (const double s : {row->time->measured, row->time->predicted}) {
            least = std::min(least, s);
            most = std::max(most, s);
        }
    const double margin = 0.05 * std::max(1.0, std::log10(most / least));
    return {std::log10(least) - margin, std::log10(most) + margin};
}

std::string text_at(double x, double y, std::string_view words, std::string_view more = {}) {
    return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", svg::number(x), svg::number(y),
                       more, svg::escaped(words));
}

std::string line_of(double x1, double y1, double x2, double y2, std::string_view stroke) {
    return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", svg::number(x1),
                       svg::number(y1), svg::number(x2), svg::number(y2), stroke);
}

/// A circle, a square or a triangle around the point.
std::string mark(std::size_t table, double x, double y, const std::string& title) {
    const std::string_view colour = kColours[table % kColours.size()];
    const std::string says = fmt::format("><title>{}</title>", svg::escaped(title));
    const std::string paint = fmt::format("fill=\"{}\" fill-opacity=\"0.6\"", colour);
    constexpr double r = 3.6;
    switch (table / kColours.size() % 3) {
        case 0:
            return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}{}</circle>\n",
                               svg::number(x), svg::number(y), r, paint, says);
        case 1:
            return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}{}</rect>\n",
                               svg::number(x - r), svg::number(y - r), 2 * r, 2 * r, paint, says);
        default:
            return fmt::format("<path d=\"M{} {}l{} {}h{}z\" {}{}</path>\n", svg::number(x),
                               svg::number(y - r - 1), r + 1, 2 * r + 1, -2 * (r + 1), paint, says);
    }
}

/// "10 ms": few digits, in a unit with a value of at least one.
std::string tick_text(double seconds) {
    if (seconds >= 1) return fmt::format("{:g} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:g} ms", 1e3 * seconds);
    return fmt::format("{:g} us", 1e6 * seconds);
}

class Panel {
public:
    Panel(const Rows& rows, std::string_view title, double x, std::vector<std::string>& tables)
        : rows_(rows), axis_(axis_of(rows)), x_(x), tables_(tables) {
        frame(title);
        ticks();
        diagonals();
        for (const MeasuredComparison* row : rows_) add(*row);
    }
    std::string text() { return std::move(out_); }

private:
    double across(double seconds) const { return x_ + axis_.at(seconds); }
    double down(double seconds) const { return kTop + kSide - axis_.at(seconds); }

    void frame(std::string_view title) {
        out_ += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999\"/>\n",
            svg::number(x_), kTop, kSide, kSide);
        out_ += text_at(x_, kTop - 14, title, " font-weight=\"bold\"");
        out_ += text_at(x_ + kSide / 2, kTop + kSide + 40, "measured", " text-anchor=\"middle\"");
        out_ += fmt::format(
            "<text transform=\"translate({},{}) rotate(-90)\" text-anchor=\"middle\">predicted"
            "</text>\n",
            svg::number(x_ - 54), kTop + kSide / 2);
    }

    /// The powers of ten, or, where the axis has fewer than two, their halves and fifths.
    void ticks() {
        const bool many = axis_.high - axis_.low >= 2;
        for (int power = static_cast<int>(std::floor(axis_.low));
             power <= static_cast<int>(std::ceil(axis_.high)); ++power)
            for (const double of : {1.0, 2.0, 5.0}) {
                const double s = of * std::pow(10.0, power);
                if ((many && of != 1.0) || std::log10(s) < axis_.low || std::log10(s) > axis_.high)
                    continue;
                out_ += line_of(across(s), kTop, across(s), kTop + kSide, "stroke=\"#eee\"");
                out_ += line_of(x_, down(s), x_ + kSide, down(s), "stroke=\"#eee\"");
                const std::string words = tick_text(s);
                out_ += text_at(across(s), kTop + kSide + 18, words, " text-anchor=\"middle\"");
                out_ += text_at(x_ - 6, down(s) + 4, words, " text-anchor=\"end\"");
            }
    }

    /// The line on which predicted = share x measured, inside the frame.
    void diagonal(double share, std::string_view stroke) {
        const double low = std::pow(10.0, axis_.low);
        const double high = std::pow(10.0, axis_.high);
        const double from = share < 1 ? low / share : low;
        const double to = share < 1 ? high : high / share;
        out_ += line_of(across(from), down(share * from), across(to), down(share * to), stroke);
    }
    void diagonals() {
        diagonal(1, "stroke=\"#444\"");
        diagonal(1 + kBand, "stroke=\"#888\" stroke-dasharray=\"4 4\"");
        diagonal(1 - kBand, "stroke=\"#888\" stroke-dasharray=\"4 4\"");
    }

    void add(const MeasuredComparison& row) {
        auto found = std::ranges::find(tables_, row.step.table);
        if (found == tables_.end()) found = tables_.insert(tables_.end(), row.step.table);
        out_ += mark(found - tables_.begin(), across(row.time->measured), down(row.time->predicted),
                     fmt::format("{}, {}: measured {}, predicted {}, {:+.1f} %", row.step.table,
                                 row.step.row, text::time_text(row.time->measured),
                                 text::time_text(row.time->predicted), 100 * row.time->error()));
    }

    const Rows& rows_;
    Axis axis_;
    double x_;
    std::vector<std::string>& tables_;
    std::string out_;
};

std::string legend(const std::vector<std::string>& tables, double x) {
    std::string out;
    double y = kTop + 8;
    for (std::size_t i = 0; i < tables.size(); ++i, y += 20)
        out += mark(i, x, y, tables[i]) +
               text_at(x + 12, y + 4, svg::shortened(tables[i], kLegend - 20, kFontSize));
    return out + text_at(x - 4, y + 14, fmt::format("dashed: {:.0f} % off", 100 * kBand));
}

}  // namespace

std::string to_svg(const AccuracyReport& report) {
    Rows steps;
    Rows parts;
    for (const MeasuredComparison& row : report.rows)
        if (row.time) (row.step.is_part() ? parts : steps).push_back(&row);
    std::vector<std::string> tables;
    std::string panels;
    double x = kLeft;
    const auto add = [&](const Rows& rows, std::string_view what) {
        if (rows.empty()) return;
        const std::string title = fmt::format(
            "{} {}", rows.size(), rows.size() == 1 ? what.substr(0, what.size() - 1) : what);
        panels += Panel(rows, title, x, tables).text();
        x += kSide + kBetween + kLeft;
    };
    add(steps, "steps");
    add(parts, "collectives and kernels");
    x -= kLeft;
    const double width = x + kLegend;
    const double height = kTop + kSide + kBelow;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"{2}\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{3}{4}</svg>\n",
        svg::number(width), svg::number(height), kFontSize, panels, legend(tables, x));
}

}  // namespace debubble::sim
