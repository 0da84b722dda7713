#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/inline_vector.h"
#include "trace/span_table.h"
#include "trace/trace.h"

/// The waits between the spans of a trace, derived from the actions alone: a Recv waits for the
/// Send of an equal message, a compute for its Recvs and for the gathers it needs, every span for
/// the one before it on its rank. Works on a simulated and on an executed trace, of one training
/// step or of several.
namespace debubble {

/// True for a Compute, Recompute or Overlap, which make up the makespan.
bool is_work(const Action& action);

/// Tables over a trace, which must outlive them. Construction is O(n) for a trace in order of time;
/// a query looks a key up, and searches among the spans of that key, of which each step has one.
class SpanGraph {
public:
    /// One pipeline rank of one replica.
    struct Unit {
        std::int32_t replica = 0;
        Rank rank;
        std::vector<std::uint32_t> work;    ///< computes and optimizer steps, by begin
        std::vector<std::uint32_t> gather;  ///< collectives and copies, by begin
        std::vector<std::uint32_t> sends;
        std::size_t recvs = 0;  ///< how many there are
        friend bool operator==(const Unit&, const Unit&) = default;
    };

    explicit SpanGraph(const Trace& trace);

    const Trace& trace() const { return *trace_; }
    const std::vector<Unit>& units() const { return units_; }  ///< ordered by replica, then rank
    const Unit& unit_of(std::size_t span) const { return units_[unit_of_[span]]; }

    /// The compute whose result a Send carries.
    std::optional<std::size_t> producer_of_send(std::size_t send) const;
    std::optional<std::size_t> send_of_recv(std::size_t recv) const;

    /// The input of a compute from the neighbouring stage, if another rank makes it.
    struct Arrival {
        std::optional<std::size_t> recv;      ///< unset where communication was not recorded
        std::optional<std::size_t> producer;  ///< the other rank's compute
    };
    /// Each compute of an Overlap has one.
    using Arrivals = InlineVector<Arrival, 2>;
    Arrivals arrivals_of(std::size_t compute) const;

    /// The last member to join a collective: before it began, the others only waited. `span` itself
    /// if it has no peers.
    std::size_t last_to_join(std::size_t span) const;

    /// The last of a unit's sends (collectives, copies) that ended in (after, until].
    std::optional<std::size_t> send_ended_in(const Unit& unit, Instant after, Instant until) const;
    std::optional<std::size_t> gather_ended_in(const Unit& unit, Instant after,
                                               Instant until) const;

    /// The spans that must have ended before a span, of which there are few: the one that ended
    /// last is the reason why it did not begin earlier.
    InlineVector<std::size_t, 4> predecessors_of(std::size_t span) const;

private:
    void add_units();
    std::optional<std::size_t> before(const std::vector<std::uint32_t>& list,
                                      std::size_t span) const;
    void add(std::uint32_t span);
    void find_last_joiners();
    std::optional<std::size_t> last_before(const SpanTable& of, const Message& message,
                                           std::int32_t replica, Instant at) const;
    Instant ready(std::size_t collective) const;
    std::array<std::optional<std::size_t>, 2> own_predecessors(std::size_t collective) const;

    const Trace* trace_;
    int stage_count_ = 0;
    std::vector<Unit> units_;
    std::vector<std::uint32_t> unit_of_;
    std::vector<std::uint32_t> place_;  ///< of a span in its unit's list; a Recv is in none
    bool in_order_ = true;              ///< whether the spans are sorted by begin
    MessageNumbers messages_;
    SpanTable producers_;  ///< by message
    SpanTable sends_;
    SpanTable recvs_;
    KeyNumbers collective_numbers_;
    SpanTable collectives_;
    std::vector<std::uint32_t> last_joiner_;  ///< by index in collectives_
};

/// The length of each span without its wait for a peer: a message counts from the time when both
/// ends were ready, a collective from the time when its last member had joined. A Send that ended
/// before its Recv began waited for nobody. A prediction is compared with these lengths, since
/// waits depend on the order.
std::vector<Duration> net_lengths(const SpanGraph& graph);

/// Calls visit(span, wait) for the collectives that were not the last to join and for both ends of
/// every message: the part of the length that net_lengths() leaves out.
template <class Visit>
void for_each_wait(const SpanGraph& graph, Visit&& visit) {
    const std::vector<Span>& spans = graph.trace().spans;
    const auto wait = [&](std::size_t span, std::size_t peer) {
        const Instant joined = spans[peer].begin;
        const bool waited = joined > spans[span].begin && joined <= spans[span].end;
        visit(span, waited ? joined - spans[span].begin : Duration{});
    };
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (std::holds_alternative<Recv>(spans[i].action)) {
            const auto send = graph.send_of_recv(i);
            if (!send) continue;
            wait(i, *send);
            wait(*send, i);
        } else if (const std::size_t last = graph.last_to_join(i); last != i) {
            wait(i, last);
        }
    }
}

}  // namespace debubble
