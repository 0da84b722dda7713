#include "gui/viewmodel/timeline/pairing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/words.h"
#include "text/wording.h"
#include "trace/picture/subject.h"

namespace debubble::gui {
namespace {

struct Occurrence {
    Rank rank;
    Action action;
    int number = 0;  ///< index among the spans of this action on this rank, by time
    std::uint32_t span = 0;

    auto what() const { return std::tie(rank, action); }
    auto key() const { return std::tie(rank, action, number); }
};

std::vector<Occurrence> occurrences_of(const TimelineDocument& document) {
    std::vector<Occurrence> all;
    for (std::uint32_t i = 0; i < document.trace.spans.size(); ++i) {
        const Span& span = document.span(i);
        const Device* device = document.device_of(span.rank);
        if (device != nullptr && device->replica == span.replica)
            all.push_back({span.rank, span.action, 0, i});
    }
    std::ranges::stable_sort(all, {}, &Occurrence::what);
    for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i].what() == all[i - 1].what()) all[i].number = all[i - 1].number + 1;
    return all;
}

/// The pairs of actions of both sides, found in one pass over both lists.
std::vector<Pair> pairs_of(const TimelineDocument& a, const TimelineDocument& b, Pairing& out) {
    const std::vector<Occurrence> of_a = occurrences_of(a);
    const std::vector<Occurrence> of_b = occurrences_of(b);
    std::vector<Pair> pairs;
    auto x = of_a.begin();
    auto y = of_b.begin();
    while (x != of_a.end() && y != of_b.end()) {
        if (x->key() < y->key()) {
            ++out.only_a;
            ++x;
        } else if (y->key() < x->key()) {
            ++out.only_b;
            ++y;
        } else {
            pairs.push_back({x->span, y->span, {a.net_length(x->span), b.net_length(y->span)}});
            ++x;
            ++y;
        }
    }
    out.only_a += of_a.end() - x;
    out.only_b += of_b.end() - y;
    return pairs;
}

std::vector<Pair> worst_of(std::vector<Pair> pairs) {
    std::erase_if(pairs, [](const Pair& p) { return apart(p.length) == Duration{}; });
    const std::size_t most = std::min(pairs.size(), kMostWorst);
    const auto worse = [](const Pair& p, const Pair& q) {
        return std::tuple(apart(q.length), p.a) < std::tuple(apart(p.length), q.a);
    };
    std::ranges::partial_sort(pairs, pairs.begin() + static_cast<std::ptrdiff_t>(most), worse);
    pairs.resize(most);
    return pairs;
}

std::optional<Instant> first_optimizer_step(const TimelineDocument& document) {
    for (const Span& span : document.trace.spans)
        if (std::holds_alternative<OptimizerStep>(span.action)) return span.begin;
    return std::nullopt;
}

using Sums = std::map<std::size_t, SumRow>;  ///< by the position of their row

void add_sum(SumRow& row, const std::string& name, Duration length, Side side) {
    row.name = name;
    ++(side == Side::A ? row.count.simulated : row.count.executed);
    (side == Side::A ? row.sum.simulated : row.sum.executed) += length;
}

/// Adds up a document's actions by kind, its passes together, and the passes of each rank.
void add_sums(const TimelineDocument& document, Side side, Sums& kinds, Sums& ranks) {
    const std::span<const std::string> names = picture::kinds();
    for (std::uint32_t i = 0; i < document.trace.spans.size(); ++i) {
        const Span& span = document.span(i);
        const Device* device = document.device_of(span.rank);
        if (device == nullptr || device->replica != span.replica) continue;
        const Duration length = document.net_length(i);
        const std::string& kind = kind_of(span.action);
        const std::size_t place = std::ranges::find(names, kind) - names.begin();
        add_sum(kinds[place + 1], kind, length, side);
        if (!is_work(span.action)) continue;
        add_sum(kinds[0], said("details", "all passes"), length, side);
        add_sum(ranks[span.rank.index], device->name, length, side);
    }
}

std::vector<SumRow> rows_of(const Sums& sums) {
    std::vector<SumRow> rows;
    for (const auto& [place, row] : sums) rows.push_back(row);
    return rows;
}

}  // namespace

std::string sums_text(const Pairing& pairing) {
    std::string words;
    const auto table = [&](const std::string& title, const std::vector<SumRow>& rows) {
        words +=
            fmt::format("{:<16}{:>10}{:>10}{:>14}{:>14}{:>11}\n", title, said("details", "count A"),
                        said("details", "count B"), "A", "B", said("details", "change"));
        for (const SumRow& row : rows)
            words +=
                fmt::format("{:<16}{:>10}{:>10}{:>14}{:>14}{:>11}\n", "  " + row.name,
                            row.count.simulated, row.count.executed,
                            text::time_text(row.sum.simulated), text::time_text(row.sum.executed),
                            row.change() ? fmt::format("{:+.1f} %", 100 * *row.change()) : "-");
    };
    table(said("details", "by kind"), pairing.kind_sums);
    words += '\n';
    table(said("details", "passes by rank"), pairing.rank_sums);
    return words;
}

std::shared_ptr<const Pairing> pair(const TimelineDocument& a, const TimelineDocument& b,
                                    Common alike) {
    auto out = std::make_shared<Pairing>();
    out->alike = alike;
    if (alike != Common::Program) {
        Sums kinds;
        Sums ranks;
        add_sums(a, Side::A, kinds, ranks);
        add_sums(b, Side::B, kinds, ranks);
        out->kind_sums = rows_of(kinds);
        out->rank_sums = rows_of(ranks);
    }
    std::vector<Pair> pairs;
    if (alike != Common::Nothing) pairs = pairs_of(a, b, *out);
    out->a.partner.resize(a.trace.spans.size());
    out->b.partner.resize(b.trace.spans.size());
    auto errors_a = std::make_shared<std::vector<std::optional<float>>>(a.trace.spans.size());
    auto errors_b = std::make_shared<std::vector<std::optional<float>>>(b.trace.spans.size());
    ErrorSums sums;
    for (const Pair& pair : pairs) {
        sums.add(a.span(pair.a).action, pair.length);
        out->a.partner[pair.a] = pair.b;
        out->b.partner[pair.b] = pair.a;
        const auto error = relative_error(pair.length);
        if (!error && pair.length.simulated != Duration{}) continue;  // infinitely large
        (*errors_a)[pair.a] = (*errors_b)[pair.b] = static_cast<float>(error.value_or(0));
    }
    out->a.error = std::move(errors_a);
    out->b.error = std::move(errors_b);
    out->kinds = sums.kinds();
    out->stages = sums.stages();
    out->worst = worst_of(pairs);
    return out;
}

Duration shift_of(const TimelineDocument& a, const TimelineDocument& b, const Pairing& pairing,
                  Alignment alignment, const Selection& selection) {
    const Duration starts = a.range.begin - b.range.begin;
    if (alignment == Alignment::OptimizerStep) {
        const auto of_a = first_optimizer_step(a);
        const auto of_b = first_optimizer_step(b);
        return of_a && of_b ? *of_a - *of_b : starts;
    }
    const auto* ref = std::get_if<SpanRef>(&selection);
    if (alignment != Alignment::SelectedOp || ref == nullptr) return starts;
    const auto& partner = pairing.of(ref->side).partner;
    if (ref->index >= partner.size() || !partner[ref->index]) return starts;
    const std::uint32_t other = *partner[ref->index];
    return ref->side == Side::A ? a.span(ref->index).begin - b.span(other).begin
                                : a.span(other).begin - b.span(ref->index).begin;
}

std::shared_ptr<const std::vector<bool>> differing(const Pairing& pairing, Side side,
                                                   double threshold) {
    const std::vector<std::optional<float>>& errors = *pairing.of(side).error;
    auto out = std::make_shared<std::vector<bool>>(errors.size());
    for (std::size_t i = 0; i < errors.size(); ++i)
        (*out)[i] = !errors[i] || std::abs(*errors[i]) >= threshold;
    return out;
}

std::optional<SpanRef> partner_of(const Scene& scene, const SpanRef& ref) {
    if (!scene.pairing) return std::nullopt;
    const auto& partner = scene.pairing->of(ref.side).partner;
    if (ref.index >= partner.size() || !partner[ref.index]) return std::nullopt;
    return SpanRef{*partner[ref.index], ref.side == Side::A ? Side::B : Side::A};
}

std::vector<Detail> details_of(const Scene& scene, const Selection& selection) {
    if (const auto* bubble = std::get_if<BubbleRef>(&selection))
        return details_of(*scene.main.document, scene.main.document->bubble(bubble->index));
    const auto* ref = std::get_if<SpanRef>(&selection);
    if (ref == nullptr || !scene.layer(ref->side)) return {};
    std::vector<Detail> details = details_of(*scene.layer(ref->side).document, ref->index);
    if (!scene.pairing) return details;
    const bool of_a = ref->side == Side::A;
    const Partners& partners = scene.pairing->of(ref->side);
    const TimelineDocument& other = *scene.layer(of_a ? Side::B : Side::A).document;
    const std::string name = of_a ? "B" : "A";
    details.insert(details.begin(), {said("details", "of"), of_a ? "A" : "B"});
    if (!partners.partner[ref->index]) {
        details.push_back(
            {filled(said("details", "in {}"), name), said("details", "does not occur")});
        return details;
    }
    const std::uint32_t partner = *partners.partner[ref->index];
    details.push_back(
        {filled(said("details", "in {}"), name), text::time_text(other.span(partner).length())});
    if (const auto error = (*partners.error)[ref->index])
        details.push_back({said("details", "A against B"), fmt::format("{:+.1f} %", 100 * *error)});
    return details;
}

std::vector<Detail> details_of_step(const Scene& scene, const Row& row) {
    std::vector<Detail> details;
    for (const Side side : {Side::A, Side::B}) {
        if (side == Side::B && !scene.comparison) continue;
        const Device* device = scene.device(row, side);
        if (device == nullptr) continue;
        const GutterText text = gutter_text(*scene.layer(side).document, *device);
        details.push_back({scene.comparison ? side == Side::A ? "A" : "B" : "", device->name});
        if (text.memory) details.push_back({said("details", "memory"), *text.memory});
        std::ranges::move(details_of_step(*device), std::back_inserter(details));
    }
    return details;
}

}  // namespace debubble::gui
