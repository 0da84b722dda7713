#include "gui/viewmodel/timeline/highlight.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/overloaded.h"
#include "base/purposes.h"

namespace debubble::gui {
namespace {

using Test = std::function<bool(const Span&)>;

bool is_compute(const Span& span) {
    return std::holds_alternative<Compute>(span.action) ||
           std::holds_alternative<Overlap>(span.action);
}

/// The purpose of a communication between passes.
std::optional<CommunicationKind> purpose_of(const Action& action) {
    return std::visit(
        Overloaded{
            [](const Send&) -> std::optional<CommunicationKind> {
                return CommunicationKind::Pipeline;
            },
            [](const Recv&) -> std::optional<CommunicationKind> {
                return CommunicationKind::Pipeline;
            },
            [](const TiedGradReduce&) -> std::optional<CommunicationKind> {
                return CommunicationKind::Pipeline;
            },
            [](const Unshard&) -> std::optional<CommunicationKind> {
                return CommunicationKind::Data;
            },
            [](const ReduceGrad&) -> std::optional<CommunicationKind> {
                return CommunicationKind::Data;
            },
            [](const GradNorm&) -> std::optional<CommunicationKind> {
                return CommunicationKind::Data;
            },
            [](const Offload&) -> std::optional<CommunicationKind> {
                return CommunicationKind::Host;
            },
            [](const Reload&) -> std::optional<CommunicationKind> {
                return CommunicationKind::Host;
            },
            [](const auto&) -> std::optional<CommunicationKind> { return std::nullopt; },
        },
        action);
}

Test has_exposed(const Trace& trace, CommunicationKind kind) {
    return [&trace, kind](const Span& span) {
        return trace.exposed_by(span)[kind] > Duration{} || purpose_of(span.action) == kind;
    };
}

Test on_busiest_rank(const TimelineDocument& document) {
    const auto& ranks = document.statistics.ranks;
    if (ranks.empty()) return {};
    const Rank rank = std::ranges::max_element(ranks, {}, [](const RankStatistics& r) {
                          return work_of(r);
                      })->rank;
    return [rank](const Span& span) { return span.rank == rank && is_compute(span); };
}

/// Recomputed forwards that are actions of their own, or else the backwards that contain them.
Test is_recomputed(const TimelineDocument& document) {
    const auto is_own = [](const Span& span) {
        return std::holds_alternative<Recompute>(span.action);
    };
    if (std::ranges::any_of(document.trace.spans, is_own)) return is_own;
    return [](const Span& span) {
        bool backward = false;
        for_each_compute(span.action, [&](const Compute& c) {
            backward = backward || c.pass == Pass::Backward || c.pass == Pass::BackwardInput;
        });
        return backward;
    };
}

Test test_of(const TimelineDocument& document, std::string_view part) {
    if (part == "ideal" || part == "kernels") return is_compute;
    if (part == "recompute") return is_recomputed(document);
    if (part == "uneven_stages") return on_busiest_rank(document);
    if (part == "optimizer")
        return [](const Span& span) { return std::holds_alternative<OptimizerStep>(span.action); };
    constexpr std::string_view kExposed = "exposed_";
    if (!part.starts_with(kExposed)) return {};
    for (std::size_t k = 0; k < kCommunicationKinds; ++k) {
        const auto kind = static_cast<CommunicationKind>(k);
        if (part.substr(kExposed.size()) == name_of(kind)) return has_exposed(document.trace, kind);
    }
    return {};
}

}  // namespace

Highlight highlight_of(const TimelineDocument& document, std::string_view part,
                       std::optional<BubbleCause> idle) {
    const Test test = test_of(document, part);
    if (!test && !idle) return {};
    Highlight highlight;
    auto spans = std::make_shared<std::vector<bool>>(document.trace.spans.size());
    if (test)
        for (std::size_t i = 0; i < spans->size(); ++i) (*spans)[i] = test(document.span(i));
    highlight.spans = std::move(spans);
    if (idle) highlight.causes[*idle] = true;
    return highlight;
}

}  // namespace debubble::gui
