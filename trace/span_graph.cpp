#include "trace/span_graph.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/overloaded.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

bool is_collective(const Action& action) {
    return std::holds_alternative<Unshard>(action) || std::holds_alternative<ReduceGrad>(action) ||
           std::holds_alternative<TiedGradReduce>(action) ||
           std::holds_alternative<GradNorm>(action);
}

/// The last span of a list that had ended at `at`. The list is one stream, so its ends ascend like
/// its starts.
std::optional<std::size_t> ended_at(const Trace& trace, const std::vector<std::uint32_t>& list,
                                    Instant at) {
    const auto found = std::ranges::upper_bound(
        list, at, {}, [&](std::uint32_t span) { return trace.spans[span].end; });
    if (found == list.begin()) return std::nullopt;
    return *std::prev(found);
}

/// The members of one collective have one key: the action, except for a tied tensor, whose holders
/// are different stages. A gather involves the replicas of a rank.
KeyNumbers::Key key_of_collective(const Span& span) {
    std::uint64_t stage = 0;
    if (const auto* unshard = std::get_if<Unshard>(&span.action))
        stage = static_cast<std::uint64_t>(unshard->stage.index) << 32U |
                static_cast<std::uint32_t>(span.rank.index);
    if (const auto* reduce = std::get_if<ReduceGrad>(&span.action))
        stage = static_cast<std::uint64_t>(reduce->stage.index);
    return {span.action.index(), stage};
}

KeyNumbers::Key key_of_unit(const Span& span) {
    return {static_cast<std::uint64_t>(span.replica), static_cast<std::uint64_t>(span.rank.index)};
}

}  // namespace

bool is_work(const Action& action) {
    return std::holds_alternative<Compute>(action) || std::holds_alternative<Recompute>(action) ||
           std::holds_alternative<Overlap>(action);
}

namespace {

/// The lists of a unit, of which a span is in one.
enum class ListOf : std::uint8_t { Work, Gather, Sends, Recvs };
using Counts = ArrayBy<ListOf, std::size_t, 4>;

ListOf list_of(const Action& action) {
    return std::visit(Overloaded{
                          [](const Compute&) { return ListOf::Work; },
                          [](const Recompute&) { return ListOf::Work; },
                          [](const Overlap&) { return ListOf::Work; },
                          [](const OptimizerStep&) { return ListOf::Work; },
                          [](const Send&) { return ListOf::Sends; },
                          [](const Recv&) { return ListOf::Recvs; },
                          [](const auto&) { return ListOf::Gather; },
                      },
                      action);
}

}  // namespace

SpanGraph::SpanGraph(const Trace& trace)
    : trace_(&trace), unit_of_(trace.spans.size()), place_(trace.spans.size()), messages_(trace) {
    add_units();
    for (std::uint32_t i = 0; i < trace.spans.size(); ++i) add(i);
    for (SpanTable* table : {&producers_, &sends_, &recvs_})
        table->close(trace, messages_.count(), in_order_);
    collectives_.close(trace, collective_numbers_.keys().size(), in_order_);
    find_last_joiners();
}

void SpanGraph::add_units() {
    KeyNumbers numbers;
    std::vector<Unit> seen;
    std::vector<Counts> counts;
    Counts all{};
    Instant last = Instant::min();
    // The number of the unit seen last under the low bits of its rank, which saves most lookups.
    std::array<std::uint32_t, 64> latest{};
    for (std::uint32_t i = 0; i < trace_->spans.size(); ++i) {
        const Span& span = trace_->spans[i];
        std::uint32_t& unit = latest[static_cast<std::uint32_t>(span.rank.index) % latest.size()];
        const bool known = unit < seen.size() && seen[unit].rank == span.rank &&
                           seen[unit].replica == span.replica;
        if (!known) unit = numbers.number_or_add(key_of_unit(span));
        if (unit == seen.size()) {
            seen.push_back({span.replica, span.rank, {}, {}, {}});
            counts.emplace_back();
        }
        unit_of_[i] = unit;
        const ListOf list = list_of(span.action);
        ++counts[unit][list];
        ++all[list];
        in_order_ = in_order_ && last <= span.begin;
        last = span.begin;
    }
    producers_.reserve(all[ListOf::Work]);
    sends_.reserve(all[ListOf::Sends]);
    recvs_.reserve(all[ListOf::Recvs]);
    std::vector<std::uint32_t> order(seen.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t unit) {
        return std::pair(seen[unit].replica, seen[unit].rank);
    });
    std::vector<std::uint32_t> place(seen.size());
    for (const std::uint32_t unit : order) {
        place[unit] = static_cast<std::uint32_t>(units_.size());
        Unit& sorted = units_.emplace_back(std::move(seen[unit]));
        sorted.work.reserve(counts[unit][ListOf::Work]);
        sorted.gather.reserve(counts[unit][ListOf::Gather]);
        sorted.sends.reserve(counts[unit][ListOf::Sends]);
        sorted.recvs = counts[unit][ListOf::Recvs];
    }
    for (std::uint32_t& unit : unit_of_) unit = place[unit];
}

/// One collective is a run of spans of one key that all overlap in time.
void SpanGraph::find_last_joiners() {
    last_joiner_.resize(collectives_.size());
    for (std::size_t number = 0; number < collectives_.groups(); ++number) {
        const std::span<const std::uint32_t> spans = collectives_.group(number);
        for (std::size_t first = 0, last = 0; first < spans.size(); first = last) {
            Instant first_end = Instant::max();
            for (last = first; last < spans.size(); ++last) {
                if (trace_->spans[spans[last]].begin > first_end) break;
                first_end = std::min(first_end, trace_->spans[spans[last]].end);
            }
            const auto together = spans.subspan(first, last - first);
            const auto joins = [&](std::uint32_t span) {
                return std::pair(trace_->spans[span].begin, ready(span));
            };
            const std::uint32_t latest = together.size() == 1
                                             ? together.front()
                                             : *std::ranges::max_element(together, {}, joins);
            const auto begin = last_joiner_.begin() +
                               static_cast<std::ptrdiff_t>(collectives_.begin_of(number) + first);
            std::fill_n(begin, together.size(), latest);
        }
    }
}

/// The time from which the member of a collective was idle. Members that begin together, as in a
/// simulation, differ only in this.
Instant SpanGraph::ready(std::size_t i) const {
    Instant at = Instant::min();
    for (const auto found : own_predecessors(i)) {
        if (found) at = std::max(at, trace_->spans[*found].end);
    }
    return at;
}

/// The spans before a collective on its own rank: a compute and a collective.
std::array<std::optional<std::size_t>, 2> SpanGraph::own_predecessors(std::size_t i) const {
    const Unit& unit = unit_of(i);
    return {ended_at(*trace_, unit.work, trace_->spans[i].begin), before(unit.gather, i)};
}

/// The span that directly precedes `span` in its unit's list, if there is one.
std::optional<std::size_t> SpanGraph::before(const std::vector<std::uint32_t>& list,
                                             std::size_t span) const {
    if (place_[span] == 0) return std::nullopt;
    return list[place_[span] - 1];
}

void SpanGraph::add(std::uint32_t i) {
    const Span& span = trace_->spans[i];
    Unit& unit = units_[unit_of_[i]];
    for_each_compute(span.action, [&](const Compute& c) {
        stage_count_ = std::max(stage_count_, c.stage.index + 1);
        if (const auto result = result_of(c))
            producers_.add(*messages_.of(*result, span.replica), i);
    });
    const auto put = [&](std::vector<std::uint32_t>& list) {
        place_[i] = static_cast<std::uint32_t>(list.size());
        list.push_back(i);
    };
    if (const auto* send = std::get_if<Send>(&span.action)) {
        sends_.add(*messages_.of(send->message, span.replica), i);
        put(unit.sends);
    } else if (const auto* recv = std::get_if<Recv>(&span.action)) {
        recvs_.add(*messages_.of(recv->message, span.replica), i);
    } else if (is_work(span.action) || std::holds_alternative<OptimizerStep>(span.action)) {
        put(unit.work);
    } else {
        put(unit.gather);
        if (is_collective(span.action))
            collectives_.add(collective_numbers_.number_or_add(key_of_collective(span)), i);
    }
}

std::optional<std::size_t> SpanGraph::last_before(const SpanTable& of, const Message& message,
                                                  std::int32_t replica, Instant at) const {
    const auto number = messages_.of(message, replica);
    return number ? of.last_before(*trace_, *number, at) : std::nullopt;
}

std::optional<std::size_t> SpanGraph::producer_of_send(std::size_t send) const {
    const Span& span = trace_->spans[send];
    const auto& message = std::get<Send>(span.action).message;
    return last_before(producers_, message, span.replica, span.begin);
}

std::optional<std::size_t> SpanGraph::send_of_recv(std::size_t recv) const {
    const Span& span = trace_->spans[recv];
    const auto& message = std::get<Recv>(span.action).message;
    return last_before(sends_, message, span.replica, span.end);
}

SpanGraph::Arrivals SpanGraph::arrivals_of(std::size_t compute) const {
    const Span& span = trace_->spans[compute];
    Arrivals arrivals;
    for_each_compute(span.action, [&](const Compute& c) {
        const auto message = neighbour_input_of(c, stage_count_);
        if (!message) return;
        const auto number = messages_.of(*message, span.replica);
        if (!number) return;
        const Arrival arrival{recvs_.last_before(*trace_, *number, span.begin),
                              producers_.last_before(*trace_, *number, span.begin)};
        const bool elsewhere =
            arrival.producer && trace_->spans[*arrival.producer].rank != span.rank;
        if (arrival.recv || elsewhere) arrivals.push_back(arrival);
    });
    return arrivals;
}

std::size_t SpanGraph::last_to_join(std::size_t i) const {
    const Span& span = trace_->spans[i];
    if (!is_collective(span.action)) return i;
    const std::uint32_t number = *collective_numbers_.number(key_of_collective(span));
    return last_joiner_[collectives_.index_of(*trace_, number, static_cast<std::uint32_t>(i))];
}

std::optional<std::size_t> SpanGraph::send_ended_in(const Unit& unit, Instant after,
                                                    Instant until) const {
    const auto send = ended_at(*trace_, unit.sends, until);
    return send && trace_->spans[*send].end > after ? send : std::nullopt;
}

std::optional<std::size_t> SpanGraph::gather_ended_in(const Unit& unit, Instant after,
                                                      Instant until) const {
    const auto gather = ended_at(*trace_, unit.gather, until);
    return gather && trace_->spans[*gather].end > after ? gather : std::nullopt;
}

InlineVector<std::size_t, 4> SpanGraph::predecessors_of(std::size_t i) const {
    const Span& span = trace_->spans[i];
    const Unit& unit = unit_of(i);
    InlineVector<std::size_t, 4> out;
    const auto add_if = [&](std::optional<std::size_t> found) {
        if (found && *found != i) out.push_back(*found);
    };
    if (std::holds_alternative<Send>(span.action)) {
        add_if(producer_of_send(i));
        add_if(before(unit.sends, i));
    } else if (std::holds_alternative<Recv>(span.action)) {
        const auto send = send_of_recv(i);
        add_if(send ? send : ended_at(*trace_, unit.work, span.begin));
    } else if (is_work(span.action) || std::holds_alternative<OptimizerStep>(span.action)) {
        add_if(before(unit.work, i));
        add_if(ended_at(*trace_, unit.gather, span.begin));
        for (const Arrival& arrival : arrivals_of(i))
            add_if(arrival.recv ? arrival.recv : arrival.producer);
    } else {
        for (const std::size_t member : {i, last_to_join(i)})
            for (const auto found : own_predecessors(member)) add_if(found);
    }
    return out;
}

}  // namespace debubble
