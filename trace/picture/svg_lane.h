#pragma once

#include <algorithm>
#include <array>
#include <iosfwd>
#include <string>
#include <vector>

#include "trace/picture/palette.h"
#include "trace/trace.h"

/// The parts of a timeline picture: lanes of bars, and a rank's memory.
namespace debubble::svg {

/// The scale from time to pixels.
struct Scale {
    Instant begin;
    Duration length{};
    double left = 0;
    double width = 0;

    double x(Instant at) const {
        return left + width * (seconds(at - begin) / std::max(seconds(length), 1e-9));
    }
};

struct Band {
    double y = 0;
    double height = 0;
};

enum class Labels { None, MicroBatch, StageAndMicroBatch };

struct LaneStyle {
    Labels labels = Labels::None;
    std::size_t digits = 1;     ///< digits of the greatest microbatch
    bool merge = false;         ///< blend the bars that are thinner than a column
    double column = 1;          ///< in pixels
    double least_titled = 0;    ///< bars at least this wide show on hover what they are
    std::vector<Stage> chunks;  ///< stages of the rank; every other one is drawn lighter
};

/// Writes the bars of one row, collected by colour so that the file holds each colour once.
class LaneWriter {
public:
    LaneWriter(const Scale& scale, Band band, const LaneStyle& style);

    void add(const Span& span);
    void write(std::ostream& out) const;

private:
    /// The area of each paint in one column of pixels, 1 in sum at most.
    using Mixture = std::array<float, kPaints>;

    void add_to_mixture(double from, double to, Paint paint);
    void add_bar(const Span& span, double x, double width);
    void add_label(const Action& action, Band band, double x, double width);
    void write_mixture(std::ostream& out) const;
    bool is_light(const Action& action) const;

    Scale scale_;
    Band band_;
    LaneStyle style_;
    std::vector<Mixture> mixture_;
    std::array<std::string, kPaints> bars_;
    std::array<std::string, kPaints> light_bars_;
    std::string labels_;
};

/// The `fill` of a paint: its colour, or the pattern that hatches it.
std::string fill_of(Paint paint);

/// The hover text of a span.
std::string describe(const Span& span);

}  // namespace debubble::svg
