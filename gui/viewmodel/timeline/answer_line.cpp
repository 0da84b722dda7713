#include "gui/viewmodel/timeline/answer_line.h"

#include <algorithm>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/area_totals.h"
#include "gui/viewmodel/timeline/waits.h"
#include "gui/viewmodel/timeline/wording.h"
#include "gui/viewmodel/timeline/words.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

using text::time_text;
using Index = std::optional<std::uint32_t>;

/// The dependency of a span that ends last.
Index last_need(const TimelineDocument& document, std::uint32_t span) {
    Index last;
    for (const std::uint32_t needed : document.links.needs(span))
        if (!last || document.span(needed).end > document.span(*last).end) last = needed;
    return last;
}

/// The bar before a span on its device; nothing at the start.
Index bar_before(const TimelineDocument& document, std::uint32_t span) {
    const Device* device = document.device_of(document.span(span));
    if (device == nullptr) return std::nullopt;
    const auto own =
        std::ranges::lower_bound(device->work, document.span(span).begin, {}, &Bar::begin);
    if (own == device->work.begin()) return std::nullopt;
    return std::prev(own)->span;
}

class Sentence {
public:
    Sentence(const TimelineDocument& document, Side side) : document_(document), side_(side) {}

    void words(std::string text) { line_.push_back({std::move(text), {}}); }
    void action(std::uint32_t span, bool with_rank = true) {
        const Span& of = document_.span(span);
        line_.push_back({with_rank ? place_text(of) : to_text(of.action), SpanRef{span, side_}});
    }

    /// Adds the reason why a span did not begin earlier, as a clause after it.
    void because(std::uint32_t span) {
        const Span& of = document_.span(span);
        const Index need = last_need(document_, span);
        if (!need) return words(said("answer", ", which waits for nothing"));
        const Span& before = document_.span(*need);
        const Duration after = of.begin - before.end;
        words(after > Duration{}
                  ? filled(said("answer", ", which begins {} after "), time_text(after))
                  : said("answer", ", which begins when "));
        action(*need, before.rank != of.rank);
        if (after <= Duration{}) words(said("answer", " ends"));
    }

    std::vector<Phrase> done() {
        words(".");
        return std::move(line_);
    }

private:
    const TimelineDocument& document_;
    Side side_;
    std::vector<Phrase> line_;
};

std::string waits_for(const Bubble& bubble) {
    switch (bubble.cause) {
        case BubbleCause::WarmUp:
            return said("answer", "before its first compute; the bubble ends with ");
        case BubbleCause::CoolDown:
            return said("answer", "after its last compute; the last one of all is ");
        case BubbleCause::OtherStage: return said("answer", "for another stage: ");
        case BubbleCause::Link: return said("answer", "for a message on its way: ");
        case BubbleCause::Collective: return said("answer", "for its group: ");
        case BubbleCause::Optimizer:
            return said("answer", "at the optimizer's barrier; the bubble ends with ");
        case BubbleCause::Launch: return said("answer", "for the host, which is late with ");
        case BubbleCause::UnevenLoad: return said("answer", "for a greater load than the mean: ");
    }
    return {};
}

std::vector<Phrase> of_bubble(const TimelineDocument& document, const Bubble& bubble) {
    Sentence line(document, Side::A);
    const Index end = action_that_ends(document, bubble);
    const std::string length = time_text(bubble.end - bubble.begin);
    if (!end) {
        line.words(filled(said("answer", "Rank {} is idle for {}: {}"), bubble.rank.index, length,
                          cause_of(document, bubble)));
        return line.done();
    }
    line.words(filled(said("answer", "Rank {} waits {} {}"), bubble.rank.index, length,
                      waits_for(bubble)));
    line.action(*end);
    const bool computes = document.span(*end).lane == Lane::Compute;
    if (computes && bubble.cause != BubbleCause::Launch) line.because(*end);
    return line.done();
}

std::vector<Phrase> of_span(const TimelineDocument& document, std::uint32_t index, Side side) {
    const Span& span = document.span(index);
    Sentence line(document, side);
    line.action(index);
    line.words(
        filled(said("answer", " ({}) takes {}"), describe(span.action), time_text(span.length())));
    if (span.exposed > Duration{})
        line.words(filled(said("answer", ", of it exposed {}"), exposed_text(document, span)));
    const Duration waited = document.waits[index];
    if (waited > Duration{})
        line.words(filled(said("answer", ", of it waiting {}"), time_text(waited)));
    const Index need = last_need(document, index);
    if (!need) return line.done();
    const Span& before = document.span(*need);
    const Duration after = span.begin - before.end;
    const bool own = Index(*need) == bar_before(document, index);
    line.words(after > Duration{}
                   ? filled(said("answer", "; it begins {} after "), time_text(after))
               : own ? said("answer", "; it follows ")
                     : said("answer", "; it begins when "));
    line.action(*need, before.rank != span.rank);
    if (after <= Duration{} && !own) line.words(said("answer", " ends"));
    return line.done();
}

}  // namespace

std::vector<Phrase> answer_line(const Scene& scene, const Selection& selection) {
    if (const auto* bubble = std::get_if<BubbleRef>(&selection); bubble && scene.main)
        return of_bubble(*scene.main.document, scene.main.document->bubble(bubble->index));
    const auto* ref = std::get_if<SpanRef>(&selection);
    if (ref == nullptr || !scene.layer(ref->side)) return {};
    return of_span(*scene.layer(ref->side).document, ref->index, ref->side);
}

std::vector<Phrase> answer_line(const Scene& scene, const ViewState& state) {
    if (!state.measured) return answer_line(scene, state.selection);
    const DraggedArea area{*state.measured, state.measured_y, state.measured_to_y};
    const std::string words = sentence_of_totals(scene, area);
    return words.empty() ? std::vector<Phrase>{} : std::vector<Phrase>{{words}};
}

std::string text_of(const std::vector<Phrase>& line) {
    std::string text;
    for (const Phrase& phrase : line) text += phrase.words;
    return text;
}

}  // namespace debubble::gui
