#include "trace/picture/svg.h"

#include <algorithm>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "text/wording.h"
#include "trace/picture/svg_lane.h"
#include "trace/picture/svg_memory.h"
#include "trace/picture/svg_text.h"
#include "trace/span_graph.h"

namespace debubble {
namespace {

using svg::escaped;
using svg::number;

constexpr double kLeft = 108;
constexpr double kRight = 128;
constexpr double kTop = 92;
constexpr double kBottom = 44;

/// Heights of the parts of a row, in pixels: smaller the more ranks there are.
struct RowSize {
    double bar = 24;
    double strip = 5;  ///< of the communication
    double memory = 0;
    double gap = 12;
    double total() const { return bar + strip + (memory > 0 ? memory + 2 : 0) + gap; }
};

RowSize row_size(std::size_t ranks, bool memory) {
    RowSize size;
    if (ranks <= 8)
        size = {28, 6, 0, 12};
    else if (ranks > 64)
        size = {8, 2, 0, 3};
    else if (ranks > 16)
        size = {14, 3, 0, 6};
    if (memory) size.memory = (size.bar + size.strip) * 0.9;
    return size;
}

/// Everything that is drawn for one rank.
struct Row {
    const RankStatistics* rank = nullptr;
    std::vector<std::size_t> work;    ///< span indices
    std::vector<std::size_t> gather;  ///< collectives and copies
    std::vector<std::size_t> links;   ///< sends and receives
    std::vector<Stage> stages;
    std::vector<const Bubble*> bubbles;
    std::span<const MemorySample> memory;
    const MemoryPeak* peak = nullptr;
};

void add_span(Row& row, const Span& span, std::size_t index) {
    if (is_work(span.action) || std::holds_alternative<OptimizerStep>(span.action))
        row.work.push_back(index);
    else if (span.lane == Lane::Send || span.lane == Lane::Recv)
        row.links.push_back(index);
    else
        row.gather.push_back(index);
    for_each_compute(span.action, [&](const Compute& c) {
        if (std::ranges::find(row.stages, c.stage) == row.stages.end() && row.stages.size() < 64)
            row.stages.push_back(c.stage);
    });
}

std::vector<Row> rows_of(const Trace& trace, const Statistics& statistics) {
    const std::size_t shown = std::min<std::size_t>(statistics.ranks.size(), kMostRows);
    std::vector<Row> rows(shown);
    std::map<Rank, Row*> row_of;
    for (std::size_t r = 0; r < shown; ++r) {
        rows[r].rank = &statistics.ranks[r];
        row_of[statistics.ranks[r].rank] = &rows[r];
        const auto index = static_cast<std::size_t>(statistics.ranks[r].rank.index);
        if (index < trace.peaks.size()) rows[r].peak = &trace.peaks[index];
        const Rank rank = statistics.ranks[r].rank;
        rows[r].memory = {std::ranges::lower_bound(trace.memory, rank, {}, &MemorySample::rank),
                          std::ranges::upper_bound(trace.memory, rank, {}, &MemorySample::rank)};
    }
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        const auto found = row_of.find(trace.spans[i].rank);
        if (found != row_of.end() && found->second->rank->replica == trace.spans[i].replica)
            add_span(*found->second, trace.spans[i], i);
    }
    for (const Bubble& bubble : statistics.bubbles)
        if (const auto found = row_of.find(bubble.rank); found != row_of.end())
            found->second->bubbles.push_back(&bubble);
    for (Row& row : rows) std::ranges::sort(row.stages);
    return rows;
}

class Picture {
public:
    Picture(const Trace& trace, const Statistics& statistics, const SvgOptions& options,
            std::ostream& out)
        : trace_(trace),
          statistics_(statistics),
          options_(options),
          out_(out),
          rows_(rows_of(trace, statistics)),
          size_(row_size(rows_.size(), !trace.memory.empty())),
          merge_(trace.spans.size() > kMergeAbove) {
        scale_ = {Instant::max(), statistics.step, kLeft,
                  std::max(200.0, options.width - kLeft - kRight)};
        for (const Span& span : trace.spans) {
            scale_.begin = std::min(scale_.begin, span.begin);
            used_[static_cast<std::size_t>(paint_of(span.action))] = true;
            for_each_compute(span.action, [&](const Compute& c) {
                digits_ = std::max(digits_, to_text(c.micro_batch).size());
            });
        }
        if (trace.spans.empty()) scale_.begin = Instant{};
        used_[static_cast<std::size_t>(Paint::Bubble)] = !statistics.bubbles.empty();
        find_memory_top();
    }

    double height() const {
        return kTop + size_.total() * static_cast<double>(rows_.size()) + kBottom;
    }
    Duration axis_length() const { return scale_.length; }
    Bytes memory_top() const { return memory_top_; }

    /// Uses the axes of the other picture of a pair.
    void draw_to(Duration axis_length, Bytes memory_top) {
        scale_.length = axis_length;
        memory_top_ = memory_top;
    }

    /// `y_in_outer` is the y at which the picture begins in the one around it, if there is one.
    void write(double y_in_outer = 0) {
        open(height(), y_in_outer);
        axis(height() - kBottom);
        double y = kTop;
        for (const Row& row : rows_) {
            draw(row, y);
            y += size_.total();
        }
        legend();
        out_ << "</svg>\n";
    }

private:
    void find_memory_top() {
        memory_top_ = options_.memory_limit.value_or(Bytes{});
        for (const MemoryPeak& peak : trace_.peaks)
            memory_top_ = std::max(memory_top_, total(peak.held));
        if (trace_.peaks.empty()) {
            MemoryByClass most{};  // most of each class anywhere: an upper bound is enough
            for (const MemorySample& s : trace_.memory)
                most[static_cast<std::size_t>(s.held_as)] =
                    std::max(most[static_cast<std::size_t>(s.held_as)], s.held);
            memory_top_ = std::max(memory_top_, total(most));
        }
        memory_top_ = Bytes{memory_top_.count + memory_top_.count / 16};
    }

    void text(double x, double y, std::string_view attributes, std::string_view words) {
        out_ << fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", number(x), number(y),
                            attributes, escaped(words));
    }

    void open(double height, double y) {
        const double width = kLeft + scale_.width + kRight;
        out_ << fmt::format(
            R"svg(<svg xmlns="http://www.w3.org/2000/svg" {4}width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="11" fill="#1B1F23">
<defs>
<pattern id="bubble" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path fill="{2}" d="M0 0h6v6h-6z"/><path stroke="#BAC0C6" d="M0 0v6"/></pattern>
<pattern id="recompute" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><path fill="{3}" d="M0 0h5v5h-5z"/><path stroke="#2B6F9E" stroke-width="1.6" d="M0 0v5"/></pattern>
</defs>
<path fill="#FFFFFF" d="M0 0h{0}v{1}h-{0}z"/>
)svg",
            number(width), number(height),
            hex(kLightPalette[static_cast<std::size_t>(Paint::Bubble)]),
            hex(kLightPalette[static_cast<std::size_t>(Paint::Forward)]),
            y > 0 ? fmt::format("y=\"{}\" ", number(y)) : "");
        text(16, 26, R"(font-size="17" font-weight="bold")", options_.title);
        std::string below = options_.subtitle;
        if (statistics_.ranks.size() > rows_.size())
            below += fmt::format("{}the first {} of {} ranks are drawn", below.empty() ? "" : "; ",
                                 rows_.size(), statistics_.ranks.size());
        if (!below.empty()) text(16, 46, R"(font-size="12" fill="#5A6169")", below);
    }

    /// Draws the swatches of the paints that occur in this picture.
    void legend() {
        double x = kLeft;
        const double y = 62;
        const auto entry = [&](std::string_view words, const std::string& swatch) {
            out_ << swatch;
            text(x + 20, y + 10, R"(font-size="11")", words);
            x += 20 + svg::text_width(words, 9.8) + 14;
        };
        for (std::size_t p = 0; p < kPaints; ++p)
            if (used_[p])
                entry(name_of(static_cast<Paint>(p)),
                      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"15\" height=\"11\" "
                                  "fill=\"{}\"/>\n",
                                  number(x), number(y), svg::fill_of(static_cast<Paint>(p))));
        if (size_.memory == 0) return;
        const auto box = [&](const char* colour) {
            return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"15\" height=\"11\" fill=\"{}\"/>\n",
                               number(x), number(y), colour);
        };
        entry("held throughout the step", box("#AEBBC6"));
        entry("live", box("#DCE4EA"));
        if (options_.memory_limit)
            entry(fmt::format("limit {:.4g} GiB", gib(*options_.memory_limit)),
                  fmt::format("<path d=\"M{} {}h15\" stroke=\"#D7263D\" "
                              "stroke-dasharray=\"6 3\"/>\n",
                              number(x), number(y + 6)));
        if (!trace_.peaks.empty())
            entry("peak", fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3.2\" fill=\"#1F2D3A\"/>\n",
                                      number(x + 9), number(y + 6)));
    }

    void axis(double y) {
        const Duration tick = svg::tick_distance(scale_.length, 12);
        out_ << "<g stroke=\"#E3E6E9\">\n";
        for (Duration t{}; t <= scale_.length; t += tick)
            out_ << fmt::format("<path d=\"M{} {}V{}\"/>\n", number(scale_.x(scale_.begin + t)),
                                number(kTop - 4), number(y));
        out_ << "</g>\n<g fill=\"#5A6169\" text-anchor=\"middle\">\n";
        const text::TickFormat format(scale_.length, tick);
        for (Duration t{}; t <= scale_.length; t += tick)
            text(scale_.x(scale_.begin + t), y + 14, "", format.text(t));
        out_ << "</g>\n";
        text(kLeft, y + 32, R"(fill="#5A6169")",
             "time since the step began; bubbles name on hover what they wait for");
    }

    svg::LaneStyle style(const Row& row) const {
        svg::LaneStyle style;
        const auto rows = static_cast<double>(rows_.size());
        style.merge = merge_;
        style.digits = digits_;
        style.column = std::max(1.0, rows * scale_.width / 16'000);
        style.least_titled = merge_ ? 8 : trace_.spans.size() > 4000 ? 4 : 0;
        style.labels =
            row.stages.size() > 1 ? svg::Labels::StageAndMicroBatch : svg::Labels::MicroBatch;
        style.chunks = row.stages;
        return style;
    }

    void draw(const Row& row, double y) {
        gutter(row, y);
        svg::LaneStyle bars = style(row);
        svg::LaneStyle strip = bars;
        strip.labels = svg::Labels::None;
        const svg::Band bar{y, size_.bar};
        lane(row.gather, bar, strip);  // the part that computes hide is painted over
        bubbles(row, bar, bars);
        lane(row.work, bar, bars);
        std::vector<std::size_t> all = row.links;
        all.insert(all.end(), row.gather.begin(), row.gather.end());
        lane(all, {y + size_.bar + 1, size_.strip - 1}, strip);
        if (size_.memory > 0) memory(row, {y + size_.bar + size_.strip + 2, size_.memory});
    }

    void lane(const std::vector<std::size_t>& spans, svg::Band band, const svg::LaneStyle& style) {
        svg::LaneWriter lane(scale_, band, style);
        for (const std::size_t i : spans) lane.add(trace_.spans[i]);
        lane.write(out_);
    }

    void bubbles(const Row& row, svg::Band band, const svg::LaneStyle& style) {
        out_ << fmt::format("<g fill=\"{}\">\n", svg::fill_of(Paint::Bubble));
        for (const Bubble* b : row.bubbles) {
            const double x = scale_.x(b->begin);
            const double width = scale_.x(b->end) - x;
            if (style.merge && width < 2 * style.column) continue;
            out_ << fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(x),
                                number(band.y), number(width), number(band.height));
            if (width < style.least_titled)
                out_ << "/>\n";
            else
                out_ << fmt::format("><title>{}</title></rect>\n", escaped(describe(*b)));
        }
        out_ << "</g>\n";
    }

    std::string describe(const Bubble& b) const {
        std::string words =
            fmt::format("bubble: {}, {}", name_of(b.cause), text::time_text(b.end - b.begin));
        if (b.waited_for < trace_.spans.size()) {
            const Span& span = trace_.spans[b.waited_for];
            words += fmt::format(", until {} of rank {}", to_text(span.action), span.rank.index);
        }
        return words;
    }

    void gutter(const Row& row, double y) {
        const double font = std::min(12.0, size_.bar);
        const double step = std::max(seconds(statistics_.step), 1e-12);
        const std::string idle = fmt::format("{:.1f} % idle", 100 * seconds(row.rank->idle) / step);
        const auto style = [](double px, const char* more) {
            return fmt::format("font-size=\"{}\" {}", number(px), more);
        };
        const std::string name = fmt::format("rank {}", row.rank->rank.index);
        if (size_.bar < 20) {  // room for one line only
            text(8, y + font * 0.9, style(std::min(font, 10.0), ""), name);
            text(kLeft - 8, y + font * 0.9,
                 style(std::min(font, 9.0), R"(text-anchor="end" fill="#5A6169")"), idle);
            return;
        }
        text(16, y + 12, style(font, "font-weight=\"bold\""), name);
        text(16, y + 25, style(10, "fill=\"#5A6169\""), idle);
        if (row.stages.empty() || size_.memory == 0) return;
        std::string stages = row.stages.size() > 1 ? "stages" : "stage";
        for (std::size_t i = 0; i < row.stages.size() && i < 4; ++i)
            stages += fmt::format("{} {}", i == 0 ? "" : ",", row.stages[i].index);
        if (row.stages.size() > 4) stages += ", ...";
        text(16, y + 38, style(10, "fill=\"#5A6169\""), stages);
    }

    void memory(const Row& row, svg::Band band) {
        svg::write_memory({scale_, band, memory_top_, options_.memory_limit, row.rank->rank.index,
                           row.memory, row.peak},
                          out_);
        if (row.peak == nullptr || size_.bar < 10) return;
        const Bytes held = total(row.peak->held);
        const bool over = options_.memory_limit && held > *options_.memory_limit;
        std::string words = fmt::format("{:.1f}", gib(held));
        if (options_.memory_limit) words += fmt::format(" / {:.4g}", gib(*options_.memory_limit));
        words += " GiB";
        const double x = scale_.left + scale_.width + 8;
        const char* colour = over ? R"(fill="#B3001B" font-weight="bold")" : R"(fill="#33404B")";
        text(x, band.y + band.height / 2 + 4, colour, words);
        if (over && band.height >= 20)
            text(x, band.y + band.height / 2 + 17, colour, "does not fit");
        else if (band.height >= 20)
            text(x, band.y + band.height / 2 + 17, R"(font-size="10" fill="#5A6169")",
                 "at " + svg::shortened(row.peak->action, kRight - 30, 10));
    }

    const Trace& trace_;
    const Statistics& statistics_;
    const SvgOptions& options_;
    std::ostream& out_;
    std::vector<Row> rows_;
    RowSize size_;
    bool merge_;
    svg::Scale scale_;
    Bytes memory_top_;
    std::size_t digits_ = 1;  ///< digits of the greatest microbatch
    std::array<bool, kPaints> used_{};
};

}  // namespace

void write_svg(const Trace& trace, const Statistics& statistics, const SvgOptions& options,
               std::ostream& out) {
    Picture(trace, statistics, options, out).write();
}

void write_svg_pair(const SvgPanel& upper, const SvgPanel& lower, std::ostream& out) {
    Picture above(*upper.trace, *upper.statistics, upper.options, out);
    Picture below(*lower.trace, *lower.statistics, lower.options, out);
    const Duration length = std::max(above.axis_length(), below.axis_length());
    const Bytes top = std::max(above.memory_top(), below.memory_top());
    const int width = std::max(upper.options.width, lower.options.width);
    const double height = above.height() + below.height();
    out << fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\">\n",
        width, number(height));
    above.draw_to(length, top);
    above.write();
    below.draw_to(length, top);
    below.write(above.height());
    out << "</svg>\n";
}

}  // namespace debubble
