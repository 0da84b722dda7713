#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "trace/picture/document/link_table.h"
#include "trace/picture/document/operators.h"
#include "trace/picture/shapes.h"
#include "trace/statistics.h"
#include "trace/trace.h"

/// A timeline as a self-contained SVG picture.
namespace debubble {

struct SvgOptions {
    std::string title;                  ///< "gpt2-xl on 8 x A100: step 1.234 s, bubble 12.3 %, ..."
    std::string subtitle;               ///< the plan in words
    std::optional<Bytes> memory_limit;  ///< limit of one device
    int width = 1600;                   ///< in pixels
    std::shared_ptr<const picture::OperatorTable> operators = {};  ///< of the passes, if known
    std::shared_ptr<const picture::LinkTable> links = {};          ///< of the spans, if known
    bool draw_links = false;  ///< whether each rank has a lane for each class of links
};

/// The window's first picture of this trace in its light theme (page_shapes.h). Bars and bubbles
/// have tips. Lanes with too many bars are blended by area, so that the file stays below 3 MB and
/// shows no false patterns. Draws the replica of `statistics`, at most kMostRows ranks. The same
/// arguments give the same bytes.
void write_svg(const Trace& trace, const Statistics& statistics, const SvgOptions& options,
               std::ostream& out);

/// One of the two pictures of a pair.
struct SvgPanel {
    const Trace* trace = nullptr;
    const Statistics* statistics = nullptr;  ///< statistics of that trace
    SvgOptions options;
};

/// Two timelines, one above the other, with common scales of time and memory.
void write_svg_pair(const SvgPanel& upper, const SvgPanel& lower, std::ostream& out);

inline constexpr std::size_t kMergeAbove = 20'000;
inline constexpr int kMostRows = 128;

}  // namespace debubble

namespace debubble::picture {

/// Writes a picture as the text of an SVG file. `top` is the y at which it begins in the picture
/// around it, if there is one.
void write_svg(const Sheets& sheets, double width, double height, std::ostream& out,
               double top = 0);

}  // namespace debubble::picture
