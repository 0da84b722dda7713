#include "schedule/standstill.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/packed_rows.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

using Node = Id<struct MessageGraphNode>;
constexpr Node kNoNode{-1};

bool is_message(const Action& action) {
    return std::holds_alternative<Send>(action) || std::holds_alternative<Recv>(action);
}

/// A position in a rank's list.
struct Spot {
    int rank = 0;
    std::size_t position = 0;
};

/// Messages from one rank to another, in the orders in which either lists them; where kinds have
/// communicators of their own, those of one kind.
struct Directed {
    int from = 0;
    int to = 0;
    Message::Kind kind{};
    std::vector<Spot> sends;
    std::vector<Spot> receives;

    std::size_t pairs() const { return std::min(sends.size(), receives.size()); }
};

/// In the order of their senders, receivers and kinds.
std::vector<Directed> directed_messages(const Program& program, bool by_kind) {
    std::vector<Directed> all;
    std::vector<std::vector<std::size_t>> of_sender(program.ranks.size());
    const auto from_to = [&](int from, int to, const Message& message) -> Directed& {
        const Message::Kind kind = by_kind ? message.kind : Message::Kind{};
        for (const std::size_t known : of_sender[from])
            if (all[known].to == to && all[known].kind == kind) return all[known];
        of_sender[from].push_back(all.size());
        return all.emplace_back(Directed{from, to, kind, {}, {}});
    };
    for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank) {
        const ActionList& list = program.ranks[rank];
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (const auto* send = std::get_if<Send>(&list[i]))
                from_to(rank, send->to.index, send->message).sends.push_back({rank, i});
            if (const auto* recv = std::get_if<Recv>(&list[i]))
                from_to(recv->from.index, rank, recv->message).receives.push_back({rank, i});
        }
    }
    std::ranges::sort(all, {}, [](const Directed& d) { return std::tuple(d.from, d.to, d.kind); });
    return all;
}

/// Actions of the lists come first, in the order of ranks and positions; messages come after them.
class MessageGraph {
public:
    MessageGraph(const Program& program, Transport transport)
        : program_(program), transport_(transport), index_(program), brought_(index_.size()) {
        for (const ActionList& list : program.ranks) {
            first_.push_back(static_cast<std::int32_t>(spots_.size()));
            for (std::size_t i = 0; i < list.size(); ++i)
                spots_.push_back({static_cast<int>(first_.size()) - 1, i});
        }
        message_of_.assign(spots_.size(), kNoNode);
        nodes_ = static_cast<std::int32_t>(spots_.size());
        for (const Directed& messages : directed_messages(program, false))
            for (std::size_t k = 0; k < messages.pairs(); ++k)
                join(messages.sends[k], messages.receives[k]);
        waits_.reserve(4 * spots_.size());
        for (Node end; is_action(end); ++end.index)
            if (message_of_[end] != kNoNode) wait(message_of_[end], end);
        for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank) add_rank(rank);
        waits_.pack(nodes_);
    }

    std::int32_t nodes() const { return nodes_; }
    bool is_action(Node node) const {
        return node.index < static_cast<std::int32_t>(spots_.size());
    }
    Spot spot(Node node) const { return spots_[node]; }
    const Action& action(Node node) const {
        const Spot at = spot(node);
        return program_.ranks[at.rank][at.position];
    }
    std::span<const Node> waits_for(Node node) const { return waits_.of(node); }
    /// The end of a message that is on this rank.
    Node end_on(Node message, int rank) const {
        const auto [send, recv] = ends_[position_of(message) - spots_.size()];
        return spot(send).rank == rank ? send : recv;
    }

    /// Nodes in an order in which each follows all that it waits for; nodes in a cycle of waits,
    /// and those that wait for one, are left out.
    std::vector<Node> in_order() const {
        IndexedBy<Node, std::int32_t> open(nodes_);
        PackedRows<Node, Node> after;
        after.reserve(4 * spots_.size());
        std::vector<Node> order;
        order.reserve(nodes_);
        for (Node node; node.index < nodes_; ++node.index) {
            for (const Node before : waits_for(node)) after.add(before, node);
            open[node] = static_cast<std::int32_t>(waits_for(node).size());
            if (open[node] == 0) order.push_back(node);
        }
        after.pack(nodes_);
        for (std::size_t i = 0; i < order.size(); ++i)
            for (const Node next : after.of(order[i]))
                if (--open[next] == 0) order.push_back(next);
        return order;
    }

private:
    /// A message that a rank has received.
    struct Brought {
        int rank = -1;
        Node message = kNoNode;
    };

    Node node_of(Spot at) const {
        return {first_[at.rank] + static_cast<std::int32_t>(at.position)};
    }
    void join(Spot send, Spot recv) {
        const Node message{nodes_++};
        ends_.emplace_back(node_of(send), node_of(recv));
        message_of_[node_of(send)] = message;
        message_of_[node_of(recv)] = message;
    }
    void wait(Node node, Node for_node) {
        if (for_node != kNoNode) waits_.add(node, for_node);
    }

    void add_rank(int rank) {
        const ActionList& list = program_.ranks[rank];
        std::vector<std::pair<int, Node>> on_stream;  // the last message, by peer
        std::vector<Node> batch;                      // messages since the last compute
        Node last = kNoNode;                          // last action that is not a message
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Node node = node_of({rank, i});
            wait(node, last);
            if (is_message(list[i])) {
                const Node message = message_of_[node];
                if (const auto* recv = std::get_if<Recv>(&list[i]))
                    brought_[index_.of(recv->message)] = {rank, message};
                if (transport_ == Transport::Batched) {
                    batch.push_back(message);
                    continue;
                }
                Node& before = last_on(on_stream, stream_of(list[i]));
                wait(node, before);
                before = message;
                continue;
            }
            for (const Node message : batch) wait(node, message);
            batch.clear();
            for_each_compute(list[i], [&](const Compute& c) {
                const auto input = neighbour_input_of(c, index_.stage_count());
                if (!input) return;
                const Brought& brought = brought_[index_.of(*input)];
                if (brought.rank == rank) wait(node, brought.message);
            });
            last = node;
        }
    }
    static Node& last_on(std::vector<std::pair<int, Node>>& streams, int stream) {
        for (auto& [known, last] : streams)
            if (known == stream) return last;
        return streams.emplace_back(stream, kNoNode).second;
    }
    int stream_of(const Action& message) const {
        if (transport_ == Transport::Group) return 0;
        const auto* send = std::get_if<Send>(&message);
        return send != nullptr ? send->to.index : std::get<Recv>(message).from.index;
    }

    const Program& program_;
    Transport transport_;
    ResultIndex index_;
    std::int32_t nodes_ = 0;
    std::vector<std::int32_t> first_;  ///< index of the node of each rank's first action
    IndexedBy<Node, Spot> spots_;      ///< of the nodes of actions
    IndexedBy<Node, Node> message_of_;
    std::vector<std::pair<Node, Node>> ends_;  ///< of each message: send, receive
    std::vector<Brought> brought_;             ///< by result, to the rank that is added
    PackedRows<Node, Node> waits_;             ///< for others, by the node that waits
};

/// A cycle of waits among nodes that no order reaches, each waiting for the next.
std::vector<Node> cycle_in(const MessageGraph& graph, const std::vector<Node>& order) {
    IndexedBy<Node, bool> reached(graph.nodes());
    for (const Node node : order) reached[node] = true;
    Node at;
    while (reached[at]) ++at.index;
    constexpr std::int32_t kNotOnPath = -1;
    IndexedBy<Node, std::int32_t> place(graph.nodes(), kNotOnPath);
    std::vector<Node> path;
    while (place[at] == kNotOnPath) {
        place[at] = static_cast<std::int32_t>(path.size());
        path.push_back(at);
        const auto waits = graph.waits_for(at);
        // A compute's own inputs explain more than the compute before it.
        at = *std::find_if(waits.rbegin(), waits.rend(), [&](Node node) { return !reached[node]; });
    }
    path.erase(path.begin(), path.begin() + place[at]);
    return path;
}

/// The cycle in terms of the ends of messages alone: the nodes between two of them explain how one
/// waits for the other.
Standstill describe(const MessageGraph& graph, std::vector<Node> cycle) {
    const auto is_end = [&](Node node) {
        return graph.is_action(node) && is_message(graph.action(node));
    };
    const auto begin = std::ranges::find_if(cycle, is_end);
    if (begin == cycle.end()) {
        const Spot at = graph.spot(cycle.front());
        return {Rank{at.rank}, at.position,
                fmt::format("rank {} never gets past {}", at.rank,
                            to_text(graph.action(cycle.front())))};
    }
    std::rotate(cycle.begin(), begin, cycle.end());
    cycle.push_back(cycle.front());
    const auto name = [&](Node node) { return to_text(graph.action(node)); };
    const Spot first = graph.spot(cycle.front());
    std::string text;
    Node from = cycle.front();
    bool computes = false;  // between the two ends
    for (std::size_t i = 1; i + 1 < cycle.size(); ++i) {
        if (graph.is_action(cycle[i])) {
            computes = computes || !is_end(cycle[i]);
            continue;
        }
        const Node own = graph.end_on(cycle[i], graph.spot(from).rank);
        const Node next = cycle[i + 1];
        if (own != from)
            text += fmt::format(", which {} {}", computes ? "comes after" : "is queued after",
                                name(own));
        if (next != own)
            text +=
                fmt::format(", which waits for {} on rank {}", name(next), graph.spot(next).rank);
        from = next;
        computes = false;
    }
    return {Rank{first.rank}, first.position,
            fmt::format("{} on rank {}{}", name(cycle.front()), first.rank, text)};
}

}  // namespace

std::vector<Exchanged> exchanged_messages(const Program& program, Transport transport) {
    std::vector<Exchanged> all;
    for (const Directed& messages : directed_messages(program, !shares_streams(transport))) {
        for (std::size_t k = 0; k < messages.pairs(); ++k) {
            const Spot from = messages.sends[k];
            const Spot to = messages.receives[k];
            const Action& send = program.ranks[from.rank][from.position];
            const Action& recv = program.ranks[to.rank][to.position];
            if (std::get<Send>(send).message == std::get<Recv>(recv).message) continue;
            all.push_back({Rank{to.rank}, to.position,
                           fmt::format("wrong data: message {} from rank {} to rank {} is sent by "
                                       "{} and received by {}",
                                       k + 1, from.rank, to.rank, to_text(send), to_text(recv))});
            break;
        }
    }
    return all;
}

std::optional<Standstill> find_standstill_on_streams(const Program& program, Transport transport) {
    if (finishes_on_streams(program, transport)) return std::nullopt;
    const MessageGraph graph(program, transport);
    const std::vector<Node> order = graph.in_order();
    if (static_cast<std::int32_t>(order.size()) == graph.nodes()) return std::nullopt;
    return describe(graph, cycle_in(graph, order));
}

Duration makespan_on_streams(const Program& program, Transport transport,
                             const PipelineCosts& costs) {
    const MessageGraph graph(program, transport);
    const std::vector<Node> order = graph.in_order();
    if (static_cast<std::int32_t>(order.size()) < graph.nodes())
        throw InputError("the order never finishes: " +
                         describe(graph, cycle_in(graph, order)).sentence);
    IndexedBy<Node, Duration> ends(order.size());
    Duration first = Duration::max();
    Duration last{};
    for (const Node node : order) {
        Duration begin{};
        for (const Node before : graph.waits_for(node)) begin = std::max(begin, ends[before]);
        Duration takes = graph.is_action(node) ? Duration{} : costs.link;
        if (graph.is_action(node)) {
            const auto* overlap = std::get_if<Overlap>(&graph.action(node));
            for_each_compute(graph.action(node), [&](const Compute& c) {
                first = std::min(first, begin);
                takes += costs.of(c.stage).of(c.pass) / program.shape.slices;
            });
            if (overlap != nullptr && costs.overlap) takes = *costs.overlap / program.shape.slices;
            if (takes > Duration{}) last = std::max(last, begin + takes);
        }
        ends[node] = begin + takes;
    }
    return last > first ? last - first : Duration{};
}

}  // namespace debubble
