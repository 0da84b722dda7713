#include <algorithm>
#include <map>

#include "trace/picture/document/document.h"
#include "trace/picture/document/link_table.h"

namespace debubble::picture {
namespace {

bool sends(const Span& span) {
    const bool over_links = std::holds_alternative<Send>(span.action) ||
                            std::holds_alternative<Unshard>(span.action) ||
                            std::holds_alternative<ReduceGrad>(span.action) ||
                            std::holds_alternative<TiedGradReduce>(span.action) ||
                            std::holds_alternative<GradNorm>(span.action);
    return over_links && span.bytes.count > 0 && span.length() > Duration{};
}

double rate_of(const Span& span) {
    return static_cast<double>(span.bytes.count) / seconds(span.length());
}

/// The greatest rate of any rank and replica at any instant. Several actions may send at once.
double greatest_rate(const Trace& trace) {
    struct Change {
        Instant at;
        double by = 0;
    };
    std::map<std::pair<Rank, std::int32_t>, std::vector<Change>> changes;
    for (const Span& span : trace.spans) {
        if (!sends(span)) continue;
        std::vector<Change>& of_rank = changes[{span.rank, span.replica}];
        of_rank.push_back({span.begin, rate_of(span)});
        of_rank.push_back({span.end, -rate_of(span)});
    }
    double greatest = 0;
    for (auto& [unused, of_rank] : changes) {
        std::ranges::sort(of_rank, {}, [](const Change& c) { return std::pair(c.at, c.by); });
        double now = 0;
        for (const Change& change : of_rank) greatest = std::max(greatest, now += change.by);
    }
    return greatest;
}

}  // namespace

std::shared_ptr<const LinkTable> sent_by(const Trace& trace) {
    const double limit = greatest_rate(trace);
    if (limit <= 0) return nullptr;
    LinkTable table;
    int ranks = 0;
    for (const Span& span : trace.spans) ranks = std::max(ranks, span.rank.index + 1);
    table.classes.push_back({"sent", std::vector(ranks, BytesPerSecond{limit}), false});
    table.uses.emplace_back();  // stretches of spans that send nothing
    table.use_of_span.assign(trace.spans.size(), 0);
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        const Span& span = trace.spans[i];
        if (!sends(span)) continue;
        table.use_of_span[i] = static_cast<std::uint32_t>(table.uses.size());
        table.uses.push_back({{0, 0, 1, static_cast<double>(span.bytes.count) / limit}});
    }
    return std::make_shared<const LinkTable>(std::move(table));
}

std::optional<std::size_t> same_class(const TimelineDocument& document, std::size_t of,
                                      const TimelineDocument& other) {
    if (!document.link_table || !other.link_table) return std::nullopt;
    const std::vector<LinkClass>& classes = other.link_table->classes;
    const auto same =
        std::ranges::find(classes, document.link_table->classes[of].name, &LinkClass::name);
    if (same == classes.end()) return std::nullopt;
    return static_cast<std::size_t>(same - classes.begin());
}

std::string why_no_links(const TimelineDocument& document) {
    if (document.link_table) return {};
    const bool communicates = std::ranges::any_of(
        document.trace.spans, [](const Span& span) { return span.lane != Lane::Compute; });
    return communicates ? "The trace holds no sizes of messages, so that nothing tells what the "
                          "links carry."
                        : "Nothing is sent over links here.";
}

}  // namespace debubble::picture
