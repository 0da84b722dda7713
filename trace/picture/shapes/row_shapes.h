#pragma once

#include <map>
#include <span>

#include "trace/picture/bubbles.h"
#include "trace/picture/view.h"

namespace debubble::picture {

/// The common form and size of the labels of all visible bars.
LabelStyle label_style(const Timeline& timeline, const View& view);

/// The part of a wide bar that shows its operators.
Band operator_row(Band bar);

/// Pixels between the top of a lane of links and their limit.
inline constexpr double kLimitRoom = 3;

/// Draws the rows of a timeline: bars, bubbles, labels, messages, errors, memory.
class RowShapes {
public:
    RowShapes(const Timeline& timeline, const View& view, LabelStyle labels);

    /// The shapes of a row. Their origin is the axis's left edge at the top of the first row.
    Shapes of(const Row& row);

private:
    static constexpr double kLeastParted = 4;  ///< least width of a bar with a gap after it
    static constexpr double kGap = 1;
    static constexpr double kLeastExposed = 0.3;  ///< least height of an exposed part that is drawn

    /// One lane of bars.
    struct Lane {
        const Layer& layer;
        const Device& device;
        Band band;
        TimeAxis axis;  ///< the axis on the layer's clock
    };
    Lane lane(Side side, const Device& device, Band band) const;
    void background(const Row& row);
    void work(const Lane& lane, bool full);
    void work_without_colours(const Lane& lane, bool full);
    void work_blended(const Lane& lane, bool full);
    void work_boxes(const Lane& lane, bool full);
    /// Bars narrower than pixels: the stacked shares of the kinds of work in each column.
    void work_stacked(const Lane& lane);
    bool is_far(const Lane& lane) const;
    /// The exposed part of each column, from the bottom up. exposed_part() does the same for a bar
    /// that is drawn singly.
    void exposed_columns(const Lane& lane);
    std::vector<bool> columns_of_pairs(const Lane& lane, const TimeAxis& axis) const;
    void exposed_part(const Lane& lane, const Bar& bar, Band band);
    void exposed_between(const Lane& lane);
    bool shows_exposed(const Lane& lane) const;
    /// The operators of wide bars, in a second row within the bar.
    void operators(const Lane& lane);
    void operators_of(const Lane& lane, const Bar& bar, Rgb fill, const OperatorParts& parts);
    /// The operators of a bar; nullptr if it is too small for them.
    const OperatorParts* shown_operators(const Lane& lane, const Bar& bar) const;
    void bubbles(const Lane& lane, double least_width);
    void bubble_words(const Bubble& bubble, const BubbleColours& colours, Rect area);
    void recomputes(const Lane& lane);
    /// The parts of pairs whose layers overlap, if they fit.
    void pairs(const Lane& lane);
    void pair(const Lane& lane, std::size_t index);
    bool shows_parts(const Lane& lane, const Bar& bar) const;
    Rgb colour_of(const Lane& lane, std::size_t index, const PairPart& part) const;
    void part_label(const PairPart& part, Rgb under, Rect place);
    /// Writes the first of these texts that fits into a rectangle, in its middle.
    void words_in(std::span<const std::string> words, Rgb under, Rect place);
    void separators(const Bars& bars, const Lane& lane, Rgb ground);
    void labels(const Lane& lane);
    /// `exposed` is the share of the bar's height with the colour of communication.
    void label(const Action& action, Rgb under, Rect bar, double exposed);
    void streams(const Row& row, Side side);
    void errors(const Row& row);
    /// The used share of a class's limit over time.
    void links(const Row& row, Side side);
    void memory(const Row& row, Side side);
    void memory_heat(const Lane& lane);
    void memory_curve(const Lane& lane);
    void memory_axis(Rect band, const MemoryScale& scale);

    bool draws_singly(const Bars& bars, const TimeAxis& axis) const;
    void box(Rect rect, Rgb fill) { out_.emplace_back(Area{rect, fill}); }
    void bar(const Lane& lane, const Bar& bar, Rgb fill, Band band);
    void columns(Band band, std::vector<std::uint32_t> colours);
    /// The visible part of a range.
    Rect rect(TimeRange range, const TimeAxis& axis, Band band) const;
    Rgb ink(Rgb under);

    const Timeline& timeline_;
    const View& view_;
    LabelStyle labels_;
    double width_;
    Shapes out_;
    std::map<std::uint32_t, Rgb> inks_;
};

}  // namespace debubble::picture
