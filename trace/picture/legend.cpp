#include "trace/picture/legend.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "text/wording.h"
#include "trace/picture/bubbles.h"
#include "trace/picture/document/exposed.h"
#include "trace/picture/svg_text.h"
#include "trace/picture/wording.h"

namespace debubble::picture {
namespace {

constexpr double kHeadMargin = 8;
constexpr double kSwatch = 15;
constexpr double kSwatchHeight = 10;
constexpr double kApart = 8;
constexpr double kTitleSize = 1.3;  ///< in letters
constexpr double kNarrow = 0.92;    ///< width of a legend's words, as a share of svg::text_width()

/// Writes entries from left to right until the line is full; no entry is cut off.
class LegendLine {
public:
    LegendLine(Shapes& out, const View& view, double middle)
        : out_(out), view_(view), middle_(middle) {}

    /// Calls `draw` with the rectangle of the swatch.
    template <class Draw>
    void entry(const std::string& words, Draw&& draw) {
        if (!has_room(words)) return;
        const double width = width_of(words);
        draw(Rect{x_, middle_ - kSwatchHeight / 2, kSwatch, kSwatchHeight});
        text({x_ + kSwatch + 5, middle_}, words);
        x_ += width + kApart;
    }
    bool has_room(const std::string& words) const {
        return x_ + width_of(words) <= view_.geometry.width - kHeadMargin;
    }
    void area(const std::string& words, Rgb fill) {
        entry(words, [&](Rect swatch) { out_.emplace_back(Area{swatch, fill}); });
    }
    void hatched(const std::string& words, Rgb fill, Hatch hatch) {
        entry(words, [&](Rect swatch) {
            hatch.rect = swatch;
            out_.emplace_back(Area{swatch, fill});
            out_.emplace_back(hatch);
        });
    }
    void words(const std::string& words) {
        text({x_, middle_}, words);
        x_ += svg::text_width(words, view_.letter() * kNarrow) + kApart;
    }

private:
    double width_of(const std::string& words) const {
        return kSwatch + 5 + svg::text_width(words, view_.letter() * kNarrow);
    }
    void text(Point at, const std::string& words) {
        out_.emplace_back(Text{at, words, view_.letter(), view_.ground().text});
    }

    Shapes& out_;
    const View& view_;
    double middle_;
    double x_ = kHeadMargin;
};

void add_title(Shapes& out, const Caption& caption, const Timeline& timeline, const View& view) {
    const double middle = view.geometry.title_height() / 2.0 + 1;
    const double size = kTitleSize * view.letter();
    const double room = view.geometry.width - 2 * kHeadMargin;
    const std::string title = svg::shortened(caption.title, room, size);
    const Ground& ground = view.ground();
    const Rgb ink = timeline.stale ? ground.faint_text : ground.text;
    out.emplace_back(Text{{kHeadMargin, middle}, title, size, ink, Anchor::Start, true});
    double used = svg::text_width(title, size) * kNarrow + 24;
    if (const ChangeWords& change = timeline.change; !change.words.empty() && room - used > 100) {
        const std::string words = svg::shortened(change.words, room - used, view.letter());
        const Rgb of_change = timeline.stale                      ? ground.faint_text
                              : change.verdict == Verdict::Better ? ground.better
                              : change.verdict == Verdict::Worse  ? ground.warning
                                                                  : ground.text;
        out.emplace_back(Text{
            {kHeadMargin + used, middle}, words, view.letter(), of_change, Anchor::Start, true});
        used += svg::text_width(words, view.letter()) + 16;
    }
    if (caption.subtitle.empty() || room - used < 100) return;
    out.emplace_back(Text{{kHeadMargin + used, middle},
                          svg::shortened(caption.subtitle, room - used, view.letter()),
                          view.letter(),
                          view.ground().faint_text});
}

void add_kinds(LegendLine& line, const TimelineDocument& document, const View& view) {
    for (std::size_t p = 0; p < kPaints; ++p) {
        const auto of = static_cast<Paint>(p);
        if (!document.paints[p] || of == Paint::Bubble) continue;
        const Rgb fill = paint(of, view.theme);
        if (of == Paint::Recompute)
            line.hatched(std::string(name_of(of)), fill, recompute_hatch(view.theme));
        else
            line.area(std::string(name_of(of)), fill);
    }
}

void add_errors(LegendLine& line, const View& view) {
    line.area("30 % too short", colour_of_error(-1, view.theme));
    line.area("equal", colour_of_error(0, view.theme));
    line.area("30 % too long", colour_of_error(1, view.theme));
}

void add_memory(LegendLine& line, Shapes& out, const Timeline& timeline, const View& view) {
    const Ground& ground = view.ground();
    if (!timeline.needs().memory) return;
    line.words("memory:");  // the optimizer is a kind of action too
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        if (timeline.main.document->holds[c])
            line.area(std::string(name_of(static_cast<MemoryClass>(c))), ground.memory[c]);
    if (const auto limit = timeline.memory_scale().limit)
        line.entry(fmt::format("limit {:.4g} GiB", gib(*limit)), [&](Rect swatch) {
            const double y = swatch.y + swatch.height / 2;
            out.emplace_back(
                Line{{swatch.x, y}, {swatch.right(), y}, ground.warning, 1, Dash::Dashed});
        });
    if (!timeline.main.document->trace.peaks.empty())
        line.entry("peak", [&](Rect swatch) {
            out.emplace_back(Dot{{swatch.x + swatch.width / 2, swatch.y + swatch.height / 2},
                                 3.5,
                                 ground.text,
                                 ground.window});
        });
}

/// The titles of both sides, each with the words of its subtitle that the other lacks, if these are
/// short.
Caption caption_of_both(const Caption& a, const Caption& b) {
    const auto title = [](char side, const Caption& of, const Caption& other) {
        constexpr std::size_t kLongest = 32;
        const std::string only = only_in(of.subtitle, other.subtitle);
        const bool said = !only.empty() && only.size() <= kLongest;
        return fmt::format("{}: {}{}", side, of.title, said ? fmt::format(" ({})", only) : "");
    };
    return {title('A', a, b), title('B', b, a)};
}

/// The causes of idle time, each with its tint.
void add_causes(LegendLine& line, const TimelineDocument& document, const View& view) {
    const Statistics& statistics = document.statistics;
    const double all = seconds(statistics.step) * static_cast<double>(statistics.ranks.size());
    if (all <= 0) return;
    const auto sums = idle_by_cause(statistics);
    std::vector<std::size_t> causes;
    Duration idle{};
    for (std::size_t c = 0; c < kBubbleCauses; ++c) {
        idle += sums[c];
        if (sums[c] > Duration{}) causes.push_back(c);
    }
    std::ranges::stable_sort(causes, std::ranges::greater{},
                             [&](std::size_t c) { return sums[c]; });
    line.words(
        fmt::format("idle {}{}", text::percent(seconds(idle) / all), causes.empty() ? "" : ":"));
    for (const std::size_t c : causes) {
        const auto cause = static_cast<BubbleCause>(c);
        const BubbleColours colours = bubble_colours(cause, view.theme);
        line.hatched(fmt::format("{} {}", name_of(cause), text::percent(seconds(sums[c]) / all)),
                     colours.ground, Hatch{{}, colours.line});
    }
}

/// The exposed communication and its purposes.
void add_exposed(LegendLine& line, const TimelineDocument& document, const View& view) {
    const ExposedSums sums = exposed_sums(document);
    if (sums.whole_s <= 0 || sums.exposed <= Duration{}) return;
    const std::string by_kind = shares_by_kind(sums.by_kind, sums.whole_s);
    const std::string all =
        fmt::format("exposed {}", text::percent(seconds(sums.exposed) / sums.whole_s));
    const std::string parts = by_kind.empty() ? all : fmt::format("{}: {}", all, by_kind);
    line.area(line.has_room(parts) ? parts : all, paint(Paint::Collective, view.theme));
}

}  // namespace

Shapes head_shapes(const Timeline& timeline, const View& view) {
    Shapes out;
    const TimelineDocument& document = *timeline.main.document;
    const bool both = timeline.comparison && !document.caption.title.empty();
    add_title(out,
              both ? caption_of_both(document.caption, timeline.other.document->caption)
                   : document.caption,
              timeline, view);
    const double middle = view.geometry.title_height() + view.geometry.legend_height() / 2.0;
    LegendLine step(out, view, middle);
    add_causes(step, document, view);
    add_exposed(step, document, view);
    LegendLine line(out, view, middle + view.geometry.legend_height());
    switch (view.colour_by) {
        case ColourBy::Kind: add_kinds(line, document, view); break;
        case ColourBy::MicroBatch: line.words("a colour for each microbatch"); break;
        case ColourBy::Stage: line.words("a colour for each stage"); break;
        case ColourBy::Error: add_errors(line, view); break;
    }
    if (view.geometry.legend_lines() == 2) {
        add_memory(line, out, timeline, view);
        return out;
    }
    LegendLine below(out, view, middle + 2 * view.geometry.legend_height());
    add_memory(below, out, timeline, view);
    return out;
}

}  // namespace debubble::picture
