#include <utility>

#include "gui/widgets/timeline/timeline_view.h"

/// The colours of the shown documents. A worker makes those of a long trace, so that no key waits
/// for them. Meanwhile the previous colours stay, and a new trace is drawn by its kinds of work
/// alone.
namespace debubble::gui {
namespace {

constexpr double kGhostFade = 0.62;

}  // namespace

ColourScheme TimelineView::scheme_of(Side side) const {
    ColourScheme scheme{look_.theme, state_.colour_by, nullptr, nullptr, 0};
    // Spans without a pair have no error, and would all be grey.
    if (scheme.by == ColourBy::Error && !scene_.pairing) scheme.by = ColourBy::Kind;
    if (scene_.pairing) {
        scheme.errors = scene_.pairing->of(side).error;
        if (state_.comparison.only_differences)
            scheme.meant = differing(*scene_.pairing, side, state_.comparison.threshold);
    }
    if (state_.critical_path) {
        const TimelineDocument& document = *scene_.layer(side).document;
        auto meant = std::make_shared<std::vector<bool>>(document.trace.spans.size());
        for (const std::size_t i : document.statistics.critical_path) (*meant)[i] = true;
        scheme.meant = std::move(meant);
    }
    if (side == Side::A && scene_.lit.any()) scheme.meant = scene_.lit.spans;
    if (side == Side::B && !scene_.comparison) scheme.faded = kGhostFade;
    return scheme;
}

TimelineView::Colours TimelineView::colours_of(const ColourQuestion& question) {
    Colours colours{question.main, question.other, {}, {}, {}};
    colours.of_main = colour(*question.main, question.scheme);
    if (!question.other) return colours;
    colours.of_other = colour(*question.other, question.other_scheme);
    if (question.errors) colours.of_errors = colour(*question.main, *question.errors);
    return colours;
}

void TimelineView::take_colours(Colours colours) {
    if (colours.main != scene_.main.document || colours.other != scene_.other.document) return;
    scene_.main.colouring = std::move(colours.of_main);
    scene_.other.colouring = std::move(colours.of_other);
    scene_.error_colouring = std::move(colours.of_errors);
    viewport()->update();
    Q_EMIT coloured();
}

TimelineView::ColourQuestion TimelineView::colour_question() const {
    ColourQuestion question{
        scene_.main.document, scene_.other.document, scheme_of(Side::A), {}, {}};
    if (scene_.other) question.other_scheme = scheme_of(Side::B);
    if (scene_.other && scene_.comparison) {
        question.errors = question.scheme;
        question.errors->by = ColourBy::Error;
        question.errors->meant = nullptr;
    }
    return question;
}

bool TimelineView::has_colours() const {
    return scene_.main.colouring && (!scene_.other || scene_.other.colouring) &&
           (scene_.comparison == (scene_.error_colouring != nullptr));
}

void TimelineView::colour_again() {
    if (!scene_.main) return;
    std::size_t spans = scene_.main.document->trace.spans.size();
    if (scene_.other) spans += scene_.other.document->trace.spans.size();
    if (spans <= kMostColouredHere) return colour_now();
    if (!has_colours()) scene_.error_colouring = nullptr;  // it belongs to the previous document
    colourer_->ask(colour_question());
}

void TimelineView::colour_now() {
    colourer_->forget();
    take_colours(colours_of(colour_question()));
}

void TimelineView::light(Highlight lit) {
    if (!lit.any() && !scene_.lit.any()) return;
    scene_.lit = std::move(lit);
    colour_again();
    viewport()->update();
}

void TimelineView::toggle_critical_path() {
    state_.critical_path = !state_.critical_path;
    colour_again();
    changed();
}

void TimelineView::set_colour_by(ColourBy by) {
    state_.colour_by = by;
    colour_again();
    changed();
}

}  // namespace debubble::gui
