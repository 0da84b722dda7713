#include "trace/picture/wording.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "text/wording.h"
#include "trace/picture/document/exposed.h"
#include "trace/picture/document/exposed_bars.h"

namespace debubble::picture {
namespace {

/// The distance of ticks: 1, 2 or 5 times a power of ten, with at most `most` ticks.
Duration tick_distance(Duration length, int most) {
    for (Duration::rep unit = 1; unit <= 100'000'000'000'000'000; unit *= 10)
        for (const Duration::rep step : {1, 2, 5})
            if (length.count() / (step * unit) <= most) return Duration{step * unit};
    return length;
}

std::vector<std::string> parts_of(const std::string& words) {
    constexpr std::string_view kBetween = "; ";
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= words.size();) {
        const std::size_t end = std::min(words.find(kBetween, from), words.size());
        parts.push_back(words.substr(from, end - from));
        from = end + kBetween.size();
    }
    return parts;
}

/// Pipelines that draw their own loads are not alike.
std::optional<std::string> copies_text(const TimelineDocument& document) {
    if (document.copies <= 1) return std::nullopt;
    const bool uneven = idle_by_cause(document.statistics)[BubbleCause::UnevenLoad] > Duration{};
    return uneven ? fmt::format("1 of {}", document.copies)
                  : fmt::format("\u00d7{} identical", document.copies);
}

}  // namespace

std::string only_in(const std::string& words, const std::string& other) {
    const std::vector<std::string> known = parts_of(other);
    std::string only;
    for (const std::string& part : parts_of(words))
        if (std::ranges::find(known, part) == known.end())
            only += (only.empty() ? "" : "; ") + part;
    return only;
}

std::string place_text(const Span& span) {
    return fmt::format("{} of rank {}", to_text(span.action), span.rank.index);
}

std::string cause_of(const TimelineDocument& document, const Bubble& bubble) {
    const bool known = bubble.waited_for < document.trace.spans.size();
    const Span* span = known ? &document.span(bubble.waited_for) : nullptr;
    const std::string what = known ? place_text(*span) : std::string();
    switch (bubble.cause) {
        case BubbleCause::WarmUp:
            return known ? "warm-up: before its first compute, " + to_text(span->action)
                         : "warm-up: before its first compute";
        case BubbleCause::CoolDown: return "cool-down: other ranks still compute";
        case BubbleCause::OtherStage: {
            if (!known) return "waits for another stage";
            std::optional<Stage> stage;
            for_each_compute(span->action, [&](const Compute& c) {
                if (!stage) stage = c.stage;
            });
            return stage ? fmt::format("waits for stage {}: {}", stage->index, what)
                         : "waits for " + what;
        }
        case BubbleCause::Link: return known ? "waits for a link: " + what : "waits for a link";
        case BubbleCause::Collective:
            return known ? "waits for a collective: " + what : "waits for a collective";
        case BubbleCause::Optimizer: return "optimizer barrier: no rank computes any more";
        case BubbleCause::UnevenLoad:
            return known ? "waits for an uneven load: " + what : "waits for an uneven load";
        case BubbleCause::Launch:
            return known ? "the host launches " + to_text(span->action) + " late"
                         : "the host is late";
    }
    return {};
}

std::string exposed_text(const TimelineDocument& document, const Span& span) {
    const std::string parts =
        shares_by_kind(document.trace.exposed_by(span), seconds(span.length()));
    return fmt::format("{}, {} of it{}", text::time_text(span.exposed),
                       text::percent(exposed_share(span)),
                       parts.empty() ? parts : fmt::format(" ({})", parts));
}

std::string tip_of(const TimelineDocument& document, const Span& span) {
    std::string text =
        fmt::format("{} \u00b7 {} from {}", to_text(span.action), text::time_text(span.length()),
                    text::time_text(span.begin - document.range.begin));
    if (span.exposed > Duration{})
        text += " \u00b7 exposed communication " + exposed_text(document, span);
    if (span.bytes.count > 0) text += " \u00b7 " + text::size_text(span.bytes);
    return text;
}

std::string tip_of(const TimelineDocument& document, const PairPart& part) {
    const std::string step = part.layer
                                 ? fmt::format("{} of layer {}", name_of(part.step), *part.layer)
                                 : "outside of the layers";
    return fmt::format("{} \u00b7 {} \u00b7 {} from {}", to_text(Action{part.pass}), step,
                       text::time_text(part.end - part.begin),
                       text::time_text(part.begin - document.range.begin));
}

std::string tip_of(const TimelineDocument& document, const Bubble& bubble) {
    return fmt::format("bubble \u00b7 {} \u00b7 {}", text::time_text(bubble.end - bubble.begin),
                       cause_of(document, bubble));
}

std::string tip_of(const MemoryPeak& peak) {
    std::string text =
        fmt::format("peak {} GiB at {}", text::gib_text(total(peak.held)), peak.action);
    if (!peak.op.empty()) text += ", " + peak.op;
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        text += fmt::format("\n{} {} GiB", name_of(static_cast<MemoryClass>(c)),
                            text::gib_text(peak.held[c]));
    return text;
}

GutterText gutter_text(const TimelineDocument& document, const Device& device) {
    GutterText text;
    text.name = device.name;
    text.copies = copies_text(document);
    if (device.statistics != nullptr && document.statistics.step > Duration{}) {
        const double step = seconds(document.statistics.step);
        text.idle = fmt::format("idle {:.1f} %", 100 * seconds(device.statistics->idle) / step);
        const double exposed = 100 * seconds(device.statistics->exposed) / step;
        if (exposed >= 0.05) text.exposed = fmt::format("exposed {:.1f} %", exposed);
    }
    if (device.peak == nullptr) return text;
    const Bytes held = total(device.peak->held);
    text.too_much = document.memory_limit && held > *document.memory_limit;
    text.memory = document.memory_limit
                      ? fmt::format("{:.1f}/{:.1f} GiB{}", gib(held), gib(*document.memory_limit),
                                    text.too_much ? " OOM" : "")
                      : fmt::format("{:.1f} GiB", gib(held));
    return text;
}

std::vector<Tick> ticks_of(const TimeAxis& axis, Instant origin, double least_distance) {
    // One less, because tick_distance() rounds the number of ticks down.
    const int most = std::max(1, static_cast<int>(axis.width() / least_distance) - 1);
    const Duration step = std::max(tick_distance(axis.shown().length(), most), Duration{1});
    const Duration from_origin = axis.shown().begin - origin;
    std::int64_t number = from_origin / step;
    if (origin + number * step < axis.shown().begin) ++number;
    const text::TickFormat format(std::max(axis.shown().end - origin, origin - axis.shown().begin),
                                  step);
    std::vector<Tick> ticks;
    for (Instant at = origin + number * step; at <= axis.shown().end; at += step)
        ticks.push_back({at, format.text(at - origin)});
    return ticks;
}

}  // namespace debubble::picture
