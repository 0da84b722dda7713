#include "trace/picture/shapes/page_shapes.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "trace/picture/legend.h"
#include "trace/picture/shapes/row_shapes.h"
#include "trace/picture/step_parts.h"
#include "trace/picture/wording.h"

namespace debubble::picture {
namespace {

constexpr double kTickDistance = 9;  ///< in letters
constexpr double kVeil = 0.67;       ///< opacity over the part of the map outside of the view
constexpr double kBesideRuler = 8;
constexpr double kNameSize = 1.2;  ///< in letters, as the next two constants
constexpr double kSideSize = 1.1;
constexpr double kLine = 1.4;  ///< distance of the lines of text left of a row

Rect whole_of(const View& view) {
    return {0, 0, double(view.geometry.width), double(view.geometry.height)};
}

Sheet map_sheet(const Timeline& timeline, const View& view) {
    const Rect map = view.geometry.map();
    const Ground& ground = view.ground();
    Sheet sheet{map, {}, {Area{map, ground.gutter}}};
    const TimeAxis whole(view.axis.whole(), map.width);
    const std::vector<float> shares =
        view.utilisation != nullptr ? *view.utilisation
                                    : utilisation(*timeline.main.document, *timeline.main.colouring,
                                                  whole.shifted(timeline.main.shift));
    const Rect curve{map.x, map.y + 3, map.width, map.height - 5};
    Steps::Level working{{}, ground.memory_lasting};
    for (const float share : shares)
        working.tops.push_back(static_cast<float>(curve.bottom() - curve.height * share));
    sheet.shapes.emplace_back(Steps{curve, {std::move(working)}, ground.memory_edge});

    const TimeRange shown = view.axis.shown();
    if (shown == view.axis.whole()) return sheet;
    // The part outside of the view is dimmed, the visible part has a frame.
    const double left = map.x + whole.x(shown.begin);
    const double right = std::max(map.x + whole.x(shown.end), left + 3);
    sheet.shapes.emplace_back(Area{{map.x, map.y, left - map.x, map.height}, ground.gutter, kVeil});
    sheet.shapes.emplace_back(
        Area{{right, map.y, map.right() - right, map.height}, ground.gutter, kVeil});
    sheet.shapes.emplace_back(Frame{{left, map.y, right - left, map.height}, ground.accent});
    return sheet;
}

Sheet ruler_sheet(const Timeline& timeline, const View& view) {
    const Rect ruler = view.geometry.ruler();
    const Ground& ground = view.ground();
    const Rect left{0, ruler.y, ruler.x, ruler.height};
    Sheet sheet{{0, ruler.y, ruler.right(), ruler.height}, {}, {Area{ruler, ground.gutter}}};
    if (const auto& only = timeline.layout.only)
        sheet.shapes.emplace_back(
            Text{{kBesideRuler, left.y + left.height / 2},
                 fmt::format("only ranks {} to {}", only->first, only->second),
                 view.letter(),
                 ground.accent,
                 Anchor::Start});
    const Instant origin = timeline.main.range().begin;
    for (const Tick& tick : ticks_of(view.axis, origin, kTickDistance * view.letter())) {
        const double x = std::floor(view.x(tick.at)) + 0.5;
        sheet.shapes.emplace_back(
            Line{{x, ruler.bottom() - 6}, {x, ruler.bottom()}, ground.faint_text});
        sheet.shapes.emplace_back(
            Text{{x + 4, ruler.y + ruler.height / 2}, tick.text, view.letter(), ground.faint_text});
    }
    return sheet;
}

class Gutter {
public:
    Gutter(const Timeline& timeline, const View& view)
        : timeline_(timeline),
          view_(view),
          right_(view.geometry.gutter() - (timeline.comparison ? 1.8 * view.letter() : 6.0)) {}

    Shapes of(const Row& row) {
        out_.clear();
        const TimelineDocument& document = *timeline_.main.document;
        const Device& device = document.devices[row.device];
        const double y = view_.y(row, row.whole.y);
        if (row.stream) {
            text({right_, y + row.whole.height / 2.0}, device.streams[*row.stream].name,
                 view_.ground().faint_text, Anchor::End);
        } else if (row.links_of) {
            if (document.link_table) links(row, document);
        } else if (row.folded) {
            if (row.run_to) run(row, document);
        } else {
            const StepBars bars = bars_of(row);
            words(gutter_text(document, device), y, row.whole.height - bars.taken());
            step_bars(row, bars);
            sides(row);
        }
        return std::move(out_);
    }

private:
    /// The text of folded ranks has the height of all their lines.
    void run(const Row& row, const TimelineDocument& document) {
        Row whole = row;
        whole.whole.height = row.run_height;
        GutterText text = gutter_text(document, document.devices[row.device]);
        text.name = fmt::format("ranks {} to {}", document.devices[row.device].rank.index,
                                document.devices[*row.run_to].rank.index);
        text.copies = "alike";
        const StepBars bars = bars_of(whole);
        words(text, view_.y(row, row.whole.y), row.run_height - bars.taken());
        step_bars(whole, bars);
    }

    /// The limit of a class of links, and its mean use.
    void links(const Row& row, const TimelineDocument& document) {
        const Device& device = document.devices[row.device];
        const LinkClass& of = document.link_table->classes[*row.links_of];
        const double y = view_.y(row, row.whole.y) + 1 + line() / 2;
        text({kLeft + 2 * view_.letter(), y}, of.title(), view_.ground().text, Anchor::Start);
        text({kLeft + 2 * view_.letter(), y + line()}, link_words(document, device, *row.links_of),
             view_.ground().faint_text, Anchor::Start);
        sides(row);
    }

    static constexpr double kLeft = 8;
    static constexpr int kApart = 1;
    double line() const { return kLine * view_.letter(); }

    /// The bars of a row's steps, one for each device.
    struct StepBars {
        std::vector<const Device*> devices;
        int height = 0;
        int taken() const { return static_cast<int>(devices.size()) * (height + kApart); }
    };
    StepBars bars_of(const Row& row) const {
        constexpr int kLeast = 16;  // a lower row has room for the name only
        constexpr int kRoomy = 50;
        StepBars bars{{}, row.whole.height < kRoomy ? 3 : 6};
        if (row.whole.height < kLeast) return bars;
        for (const Side side : {Side::A, Side::B}) {
            if (side == Side::B && !timeline_.comparison) continue;
            const Device* device = timeline_.device(row, side);
            if (device != nullptr && device->statistics != nullptr) bars.devices.push_back(device);
        }
        return bars;
    }

    void text(Point at, std::string words, Rgb ink, Anchor anchor, double size = 0) {
        if (!words.empty())
            out_.emplace_back(
                Text{at, std::move(words), size > 0 ? size : view_.letter(), ink, anchor});
    }

    /// As many of three lines as fit; warnings come first.
    void words(const GutterText& words, double y, int height) {
        const Ground& ground = view_.ground();
        const Rgb memory_ink = words.too_much ? ground.warning : ground.faint_text;
        const bool two = height >= 3 * view_.letter();
        const double first = two ? y + 1 + line() / 2 : y + height / 2.0;
        const double small = std::min(view_.letter(), std::max(height - 1.0, 6.0));
        text({kLeft, first}, words.name, ground.text, Anchor::Start,
             two ? kNameSize * view_.letter() : small);
        if (!two)
            return text({right_, first}, (words.too_much ? words.memory : words.idle).value_or(""),
                        memory_ink, Anchor::End, small);
        text({right_, first}, words.copies.value_or(""), ground.faint_text, Anchor::End);
        const bool three = height >= 4.4 * view_.letter();
        std::string second = words.idle.value_or("");
        if (three && words.exposed) second += ", " + *words.exposed;
        text({kLeft, first + line()}, second, ground.faint_text, Anchor::Start);
        if (three)
            text({kLeft, first + 2 * line()}, words.memory.value_or(""), memory_ink, Anchor::Start);
        else
            text({right_, first + line()}, words.memory.value_or(""), memory_ink, Anchor::End);
    }

    /// Draws the parts of the step, in a comparison for both sides: below the words of the row if
    /// they fit there, else at its lower edge.
    void step_bars(const Row& row, StepBars bars) {
        double y = view_.y(row, row.whole.bottom() - bars.taken());
        y = std::min(y, view_.y(row, row.whole.y) + 3 * line() + 4);
        for (const Device* device : bars.devices) {
            std::ranges::move(step_bar(*device, {kLeft, y, right_ - kLeft, double(bars.height)},
                                       view_.theme, view_.means.tips),
                              std::back_inserter(out_));
            y += bars.height + kApart;
        }
    }

    /// The letters "A" and "B" next to the half-lanes of a comparison.
    void sides(const Row& row) {
        if (!timeline_.comparison) return;
        const double least = 0.9 * view_.letter();
        for (const auto& [name, band] :
             {std::pair("A", row.bars), std::pair("B", row.other), std::pair("A", row.memory),
              std::pair("B", row.other_memory), std::pair("A", row.use),
              std::pair("B", row.other_use)})
            if (band.height >= least)
                out_.emplace_back(
                    Text{{view_.geometry.gutter() - 6.0, view_.y(row, band.y + band.height / 2.0)},
                         name,
                         kSideSize * view_.letter(),
                         view_.ground().accent,
                         Anchor::End,
                         true});
    }

    const Timeline& timeline_;
    const View& view_;
    double right_;
    Shapes out_;
};

/// Calls shapes_of(row) for the visible rows, and adds one sheet of the pinned rows and one of the
/// others.
template <class ShapesOf>
void add_rows(Sheets& sheets, const Timeline& timeline, const View& view, double left,
              Point pinned_origin, Point origin, ShapesOf&& shapes_of) {
    for (const bool pinned : {true, false}) {
        Sheet sheet{view.clip(timeline, pinned, left), pinned ? pinned_origin : origin, {}};
        for (const Row& row : timeline.layout.rows) {
            if (row.pinned != pinned || !view.shows(timeline, row)) continue;
            std::ranges::move(shapes_of(row), std::back_inserter(sheet.shapes));
        }
        if (!sheet.shapes.empty()) sheets.push_back(std::move(sheet));
    }
}

void mark_memory(Shapes& out, const Timeline& timeline, const View& view, const Row& row) {
    const MemoryScale scale = timeline.memory_scale();
    const Ground& ground = view.ground();
    for (const Band lane : {row.memory, row.other_memory}) {
        if (!scale.limit || lane.height == 0) continue;
        const double y = std::floor(view.y(row, scale.y(lane, *scale.limit))) + 0.5;
        out.emplace_back(Line{{double(view.geometry.gutter()), y},
                              {double(view.geometry.width), y},
                              ground.warning,
                              1,
                              Dash::Dashed});
    }
    for (const Side side : {Side::A, Side::B}) {
        const auto at = peak_point(timeline, row, side, view.axis);
        if (!at) continue;
        const MemoryPeak& peak = *timeline.device(row, side)->peak;
        const bool too_much = scale.limit && total(peak.held) > *scale.limit;
        out.emplace_back(Dot{{view.geometry.gutter() + at->x, view.y(row, at->y)},
                             3.5,
                             too_much ? ground.warning : ground.text,
                             ground.window,
                             view.means.tips ? tip_of(peak) : std::string()});
    }
}

/// Marks the limit of a class of links.
void mark_links(Shapes& out, const Timeline& timeline, const View& view, const Row& row) {
    const auto& table = timeline.main.document->link_table;
    if (table && !table->classes[*row.links_of].known_limits) return;
    for (const Band lane : {row.use, row.other_use}) {
        if (lane.height == 0) continue;
        const double y = std::floor(view.y(row, lane.y + kLimitRoom)) - 0.5;
        out.emplace_back(Line{{double(view.geometry.gutter()), y},
                              {double(view.geometry.width), y},
                              view.ground().warning,
                              1,
                              Dash::Dashed});
    }
}

}  // namespace

std::optional<Point> peak_point(const Timeline& timeline, const Row& row, Side side,
                                const TimeAxis& axis) {
    const Band lane = side == Side::A ? row.memory : row.other_memory;
    if (!row.is_own() || row.heat || lane.height == 0) return std::nullopt;
    const Device* device = timeline.device(row, side);
    if (device == nullptr || device->peak == nullptr) return std::nullopt;
    const Instant at = device->peak->at + timeline.layer(side).shift;
    return Point{axis.x(at), timeline.memory_scale().y(lane, total(device->peak->held))};
}

Sheets memory_marks(const Timeline& timeline, const View& view) {
    Sheets sheets;
    add_rows(sheets, timeline, view, view.geometry.gutter(), {}, {}, [&](const Row& row) {
        Shapes marks;
        if (!row.heat) mark_memory(marks, timeline, view, row);
        if (row.links_of) mark_links(marks, timeline, view, row);
        return marks;
    });
    return sheets;
}

Sheets surroundings(const Timeline& timeline, const View& view) {
    const Ground& ground = view.ground();
    Sheets sheets{map_sheet(timeline, view), ruler_sheet(timeline, view)};
    Gutter gutter(timeline, view);
    add_rows(sheets, timeline, view, 0, {}, {}, [&](const Row& row) { return gutter.of(row); });
    Sheet head{whole_of(view), {}, head_shapes(timeline, view)};
    const double edge = view.geometry.gutter() - 0.5;
    head.shapes.emplace_back(Line{{edge, double(view.geometry.map_top())},
                                  {edge, double(view.geometry.height)},
                                  ground.grid});
    head.shapes.emplace_back(Text{{8, view.geometry.map_top() + view.geometry.map_height() / 2.0},
                                  "utilisation",
                                  view.letter(),
                                  ground.faint_text});
    sheets.push_back(std::move(head));
    return sheets;
}

Sheets row_sheets(const Timeline& timeline, const View& view) {
    RowShapes rows(timeline, view, label_style(timeline, view));
    const Point origin{double(view.geometry.gutter()), double(view.geometry.top())};
    Sheets sheets;
    add_rows(sheets, timeline, view, view.geometry.gutter(), origin,
             {origin.x, origin.y - view.scroll}, [&](const Row& row) { return rows.of(row); });
    return sheets;
}

Sheets page_ground(const View& view) {
    const Rect whole = whole_of(view);
    const Rect gutter{0, double(view.geometry.map_top()), double(view.geometry.gutter()),
                      whole.height - view.geometry.map_top()};
    Sheet sheet{whole, {}, {}};
    sheet.shapes.emplace_back(Area{whole, view.ground().window});
    sheet.shapes.emplace_back(Area{gutter, view.ground().gutter});
    return {std::move(sheet)};
}

Sheets page(const Timeline& timeline, const View& view) {
    Sheets sheets = page_ground(view);
    for (Sheets part :
         {row_sheets(timeline, view), memory_marks(timeline, view), surroundings(timeline, view)})
        std::ranges::move(part, std::back_inserter(sheets));
    return sheets;
}

int page_height(const Timeline& timeline, int width) {
    return PageGeometry{.width = width}.top() + timeline.layout.height;
}

}  // namespace debubble::picture
