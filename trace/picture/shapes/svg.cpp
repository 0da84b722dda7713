#include "trace/picture/shapes/svg.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "trace/picture/shapes/page_shapes.h"
#include "trace/picture/svg_text.h"

namespace debubble {
namespace {

using picture::PageGeometry;

/// The most bars and columns of one kind of lane in all rows, which bounds the size of the file.
constexpr double kMostInAll = 16'000;

int height_of_row(int ranks) {
    return ranks <= 8 ? 76 : ranks <= static_cast<int>(picture::kManyDevices) ? 52 : 20;
}

double least_tip(std::size_t spans) {
    return spans > kMergeAbove ? 8 : spans > 4000 ? 4 : 0;
}

class Drawing {
public:
    explicit Drawing(const SvgPanel& panel) {
        const SvgOptions& options = panel.options;
        picture::Caption caption{options.title, options.subtitle};
        const std::size_t ranks = panel.statistics->ranks.size();
        if (ranks > kMostRows)
            caption.subtitle += fmt::format("{}the first {} of {} ranks are drawn",
                                            caption.subtitle.empty() ? "" : "; ", kMostRows, ranks);
        const auto document =
            picture::make_document(*panel.trace, *panel.statistics, options.memory_limit, {},
                                   {std::move(caption), options.operators, options.links});
        timeline_.main = {document, colour(*document, {}), {}};
        lay_out(options, static_cast<int>(ranks));
    }

    double height() const { return view_.geometry.height; }
    Duration length() const { return timeline_.range().length(); }
    Bytes memory_top() const { return timeline_.memory_scale().top; }

    /// Uses common scales for both pictures of a pair.
    void use_scales(Duration length, Bytes memory_top) {
        const Instant begin = timeline_.range().begin;
        view_.axis = picture::TimeAxis({begin, begin + length}, view_.geometry.lanes_width());
        timeline_.memory_top = memory_top;
    }

    /// `top` is the y of the picture in an enclosing one.
    void write(std::ostream& out, double top = 0) const {
        picture::write_svg(page(timeline_, view_), view_.geometry.width, view_.geometry.height, out,
                           top);
    }

private:
    void lay_out(const SvgOptions& options, int ranks) {
        const picture::TimelineDocument& document = *timeline_.main.document;
        picture::RowLayout& layout = timeline_.layout;
        layout = picture::lay_out(document, {.all_link_use = options.draw_links}, timeline_.needs(),
                                  height_of_row(ranks) * ranks);
        if (layout.rows.size() > kMostRows) {
            layout.rows.resize(kMostRows);
            layout.height = layout.rows.back().whole.bottom();
        }
        const int page = std::max(options.width, PageGeometry{}.gutter() + 200);
        view_.geometry = {page, page_height(timeline_, page)};
        const double width = view_.geometry.lanes_width();
        view_.axis = picture::TimeAxis(timeline_.range(), width);
        const double most =
            kMostInAll / static_cast<double>(std::max<std::size_t>(layout.rows.size(), 1));
        view_.means = {.columns = std::min(1.0, most / width),
                       .most_boxes = static_cast<std::size_t>(std::min(width, most)),
                       .tips = true,
                       .least_tip = least_tip(document.trace.spans.size())};
    }

    picture::Timeline timeline_;
    picture::View view_;
};

}  // namespace

void write_svg(const Trace& trace, const Statistics& statistics, const SvgOptions& options,
               std::ostream& out) {
    Drawing({&trace, &statistics, options}).write(out);
}

void write_svg_pair(const SvgPanel& upper, const SvgPanel& lower, std::ostream& out) {
    Drawing above(upper);
    Drawing below(lower);
    const Duration length = std::max(above.length(), below.length());
    const Bytes top = std::max(above.memory_top(), below.memory_top());
    const int width = std::max(upper.options.width, lower.options.width);
    out << fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\">\n",
        width, svg::number(above.height() + below.height()));
    above.use_scales(length, top);
    above.write(out);
    below.use_scales(length, top);
    below.write(out, above.height());
    out << "</svg>\n";
}

}  // namespace debubble
