#include "trace/span_graph.h"

#include <algorithm>
#include <map>

#include "schedule/dependencies.h"

namespace debubble {
namespace {

bool is_collective(const Action& action) {
    return std::holds_alternative<Unshard>(action) || std::holds_alternative<ReduceGrad>(action) ||
           std::holds_alternative<TiedGradReduce>(action) ||
           std::holds_alternative<GradNorm>(action);
}

int greatest_stage(const Action& action) {
    int stage = -1;
    for_each_compute(action, [&](const Compute& c) { stage = std::max(stage, c.stage.index); });
    return stage;
}

/// The span of a list that comes directly before `span`, if there is one.
std::optional<std::size_t> before(const std::vector<std::uint32_t>& list, std::size_t span) {
    const auto found = std::ranges::lower_bound(list, static_cast<std::uint32_t>(span));
    if (found == list.begin()) return std::nullopt;
    return *std::prev(found);
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

}  // namespace

bool is_work(const Action& action) {
    return std::holds_alternative<Compute>(action) || std::holds_alternative<Recompute>(action) ||
           std::holds_alternative<Overlap>(action);
}

SpanGraph::Entry SpanGraph::entry_of(const Message& m, std::int32_t replica) {
    const auto wide = [](std::int64_t x) { return static_cast<std::uint64_t>(x) & 0xffffffffU; };
    const std::uint64_t slice = m.micro_batch.slice ? 1U + wide(*m.micro_batch.slice) : 0U;
    const std::uint64_t kind = m.kind == Message::Kind::Gradient ? 1U : 0U;
    return {wide(replica) << 32U | wide(m.producer.index),
            wide(m.micro_batch.index) << 32U | (slice & 0xffffffU) << 1U | kind,
            {},
            0};
}

/// The members of one collective have one key: the action, except for a tied tensor, whose holders
/// are different stages. A gather is among the replicas of a rank.
SpanGraph::Entry SpanGraph::entry_of_collective(const Span& span) {
    std::uint64_t stage = 0;
    if (const auto* unshard = std::get_if<Unshard>(&span.action))
        stage = static_cast<std::uint64_t>(unshard->stage.index) << 32U |
                static_cast<std::uint32_t>(span.rank.index);
    if (const auto* reduce = std::get_if<ReduceGrad>(&span.action))
        stage = static_cast<std::uint64_t>(reduce->stage.index);
    return {span.action.index(), stage, {}, 0};
}

SpanGraph::SpanGraph(const Trace& trace) : trace_(&trace), unit_of_(trace.spans.size()) {
    std::map<std::pair<std::int32_t, Rank>, std::uint32_t> number;
    for (const Span& span : trace.spans) number.try_emplace({span.replica, span.rank}, 0);
    for (auto& [key, value] : number) {
        value = static_cast<std::uint32_t>(units_.size());
        units_.push_back({key.first, key.second, {}, {}, {}});
    }
    for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
        const Span& span = trace.spans[i];
        unit_of_[i] = number.find({span.replica, span.rank})->second;
        stage_count_ = std::max(stage_count_, greatest_stage(span.action) + 1);
        add(i);
    }
    for (Table* table : {&producers_, &sends_, &recvs_, &collectives_}) std::ranges::sort(*table);
    find_last_joiners();
}

/// One collective is a run of entries of one key that all overlap in time.
void SpanGraph::find_last_joiners() {
    last_joiner_.resize(collectives_.size());
    for (std::size_t first = 0, last = 0; first < collectives_.size(); first = last) {
        const Entry& head = collectives_[first];
        Instant first_end = Instant::max();
        for (last = first; last < collectives_.size(); ++last) {
            const Entry& entry = collectives_[last];
            const bool same = entry.high == head.high && entry.low == head.low;
            if (!same || entry.begin > first_end) break;
            first_end = std::min(first_end, trace_->spans[entry.span].end);
        }
        const auto latest = std::max_element(
            collectives_.begin() + first, collectives_.begin() + last,
            [&](const Entry& a, const Entry& b) {
                return std::pair(a.begin, ready(a.span)) < std::pair(b.begin, ready(b.span));
            });
        std::fill(last_joiner_.begin() + first, last_joiner_.begin() + last, latest->span);
    }
}

/// The time from which the member of a collective had nothing else to do. Members that begin
/// together, as in a simulation, differ only in this.
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

void SpanGraph::add(std::uint32_t i) {
    const Span& span = trace_->spans[i];
    Unit& unit = units_[unit_of_[i]];
    const auto put = [&](Table& table, Entry entry) {
        entry.begin = span.begin;
        entry.span = i;
        table.push_back(entry);
    };
    for_each_compute(span.action, [&](const Compute& c) {
        if (const auto result = result_of(c)) put(producers_, entry_of(*result, span.replica));
    });
    if (const auto* send = std::get_if<Send>(&span.action)) {
        put(sends_, entry_of(send->message, span.replica));
        unit.sends.push_back(i);
    } else if (const auto* recv = std::get_if<Recv>(&span.action)) {
        put(recvs_, entry_of(recv->message, span.replica));
    } else if (is_work(span.action) || std::holds_alternative<OptimizerStep>(span.action)) {
        unit.work.push_back(i);
    } else {
        unit.gather.push_back(i);
        if (is_collective(span.action)) put(collectives_, entry_of_collective(span));
    }
}

std::optional<std::size_t> SpanGraph::last_before(const Table& table, Entry key, Instant at) {
    key.begin = at;
    key.span = UINT32_MAX;
    const auto found = std::ranges::upper_bound(table, key);
    if (found == table.begin()) return std::nullopt;
    const Entry& entry = *std::prev(found);
    if (entry.high != key.high || entry.low != key.low) return std::nullopt;
    return entry.span;
}

std::optional<std::size_t> SpanGraph::producer_of_send(std::size_t send) const {
    const Span& span = trace_->spans[send];
    const auto& message = std::get<Send>(span.action).message;
    return last_before(producers_, entry_of(message, span.replica), span.begin);
}

std::optional<std::size_t> SpanGraph::send_of_recv(std::size_t recv) const {
    const Span& span = trace_->spans[recv];
    const auto& message = std::get<Recv>(span.action).message;
    return last_before(sends_, entry_of(message, span.replica), span.end);
}

std::vector<SpanGraph::Arrival> SpanGraph::arrivals_of(std::size_t compute) const {
    const Span& span = trace_->spans[compute];
    std::vector<Arrival> arrivals;
    for_each_compute(span.action, [&](const Compute& c) {
        const auto message = neighbour_input_of(c, stage_count_);
        if (!message) return;
        const Entry key = entry_of(*message, span.replica);
        const Arrival arrival{last_before(recvs_, key, span.begin),
                              last_before(producers_, key, span.begin)};
        const bool elsewhere =
            arrival.producer && trace_->spans[*arrival.producer].rank != span.rank;
        if (arrival.recv || elsewhere) arrivals.push_back(arrival);
    });
    return arrivals;
}

std::size_t SpanGraph::last_to_join(std::size_t i) const {
    const Span& span = trace_->spans[i];
    if (!is_collective(span.action)) return i;
    Entry key = entry_of_collective(span);
    key.begin = span.begin;
    key.span = static_cast<std::uint32_t>(i);
    return last_joiner_[std::ranges::lower_bound(collectives_, key) - collectives_.begin()];
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

std::vector<std::size_t> SpanGraph::predecessors_of(std::size_t i) const {
    const Span& span = trace_->spans[i];
    const Unit& unit = unit_of(i);
    std::vector<std::size_t> out;
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
