#include "trace/io/trace_formats.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/overloaded.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

/// The values of NodeType and CollectiveCommType.
enum class NodeType : std::uint8_t {
    MemLoad = 2,
    MemStore = 3,
    Comp = 4,
    CommSend = 5,
    CommRecv = 6,
    CommColl = 7
};
constexpr int kAllReduce = 0;
constexpr int kAllGather = 2;
constexpr int kReduceScatter = 7;

/// Writes a message of protocol buffers.
class Proto {
public:
    void number(int field, std::uint64_t value) {
        varint(static_cast<std::uint64_t>(field) << 3);
        varint(value);
    }
    void bytes(int field, std::string_view value) {
        varint((static_cast<std::uint64_t>(field) << 3) | 2);
        varint(value.size());
        out_ += value;
    }
    void packed(int field, const std::vector<std::uint64_t>& values) {
        if (values.empty()) return;
        Proto inner;
        for (const std::uint64_t value : values) inner.varint(value);
        bytes(field, inner.out_);
    }
    void text_attribute(int field, std::string_view name, std::string_view value) {
        constexpr int kString = 29;
        Proto inner;
        inner.bytes(1, name);
        inner.bytes(kString, value);
        bytes(field, inner.out_);
    }
    /// An AttributeProto; `type` is the number of the field that holds the value.
    void attribute(int field, std::string_view name, int type, std::uint64_t value) {
        Proto inner;
        inner.bytes(1, name);
        inner.number(type, value);
        bytes(field, inner.out_);
    }
    void varint(std::uint64_t value) {
        for (; value >= 128; value >>= 7) out_ += static_cast<char>((value & 127) | 128);
        out_ += static_cast<char>(value);
    }
    const std::string& text() const { return out_; }

private:
    std::string out_;
};
constexpr int kInt32 = 7;
constexpr int kInt64 = 9;
constexpr int kBool = 27;

struct Node {
    std::string name;
    NodeType type = NodeType::Comp;
    std::vector<std::uint64_t> ctrl_deps;
    std::vector<std::uint64_t> data_deps;
    std::int64_t begin_us = 0;
    std::int64_t end_us = 0;
    const Span* span = nullptr;  ///< null for a WAIT
    int tag = 0;
    int collective = kAllReduce;
};

/// The number of ranks in each direction; where one pipeline represents all, it is 1.
struct World {
    int tensor = 1;
    int context = 1;
    int data = 1;
    /// The number of a rank by its coordinates, in the order of Megatron-LM's tp-cp-dp-pp.
    std::size_t rank(int tp, int cp, int dp, std::size_t pp) const {
        const auto replica = static_cast<std::size_t>(dp) + static_cast<std::size_t>(data) * pp;
        return static_cast<std::size_t>(tp) +
               static_cast<std::size_t>(tensor) *
                   (static_cast<std::size_t>(cp) + static_cast<std::size_t>(context) * replica);
    }
};

/// The coordinates of a rank besides its pipeline rank.
struct Replica {
    int tp = 0;
    int cp = 0;
    int dp = 0;
};

class ChakraWriter {
public:
    ChakraWriter(const Trace& trace, World world) : trace_(trace), world_(world) {
        for (const Span& span : trace.spans)
            ranks_ = std::max(ranks_, static_cast<std::size_t>(span.rank.index) + 1);
        nodes_.resize(ranks_);
        latest_.resize(ranks_);
        last_compute_.resize(ranks_);
        if (!trace.spans.empty()) origin_ = trace.spans.front().begin;
    }

    std::string write(const std::function<void(std::size_t, std::string)>& file) {
        for (const Span& span : trace_.spans)
            if (span.replica == 0) add(span);
        for (std::size_t rank = 0; rank < ranks_; ++rank)
            for (int dp = 0; dp < world_.data; ++dp)
                for (int cp = 0; cp < world_.context; ++cp)
                    for (int tp = 0; tp < world_.tensor; ++tp)
                        file(world_.rank(tp, cp, dp, rank), file_of(rank, {tp, cp, dp}));
        return groups_file();
    }

private:
    using Id = std::uint64_t;  ///< of a node in its rank: its number, from 1; 0 means none

    std::int64_t microseconds(Instant at) const { return ((at - origin_).count() + 500) / 1000; }

    void add(const Span& span) {
        const std::size_t rank = span.rank.index;
        Node node;
        node.name = to_text(span.action);
        node.span = &span;
        node.begin_us = microseconds(span.begin);
        node.end_us = microseconds(span.end);
        if (span.lane == Lane::Compute) depend(rank, node.ctrl_deps, node, last_compute_[rank]);
        std::visit(
            Overloaded{[&](const Compute& c) { needs(rank, node, c); },
                       [&](const Overlap& o) {
                           needs(rank, node, o.first);
                           needs(rank, node, o.second);
                       },
                       [&](const Send& send) { sends(rank, node, send); },
                       [&](const Recv& recv) { receives(rank, node, recv); },
                       [&](const Unshard&) { collective(rank, node, kAllGather); },
                       [&](const ReduceGrad& reduce) {
                           collective(rank, node,
                                      is_sharded(rank, reduce.stage) ? kReduceScatter : kAllReduce);
                       },
                       [&](const TiedGradReduce&) { collective(rank, node, kAllReduce); },
                       [&](const GradNorm&) { collective(rank, node, kAllReduce); },
                       [&](const Offload&) { after_latest(rank, node, NodeType::MemStore); },
                       [&](const Reload&) { after_latest(rank, node, NodeType::MemLoad); },
                       [&](const Recompute&) { after_latest(rank, node, NodeType::Comp); },
                       [&](const Reshard&) { after_latest(rank, node, NodeType::Comp); },
                       [&](const OptimizerStep&) { after_latest(rank, node, NodeType::Comp); }},
            span.action);
        const Id id = place(rank, std::move(node));
        remember(rank, span, id);
    }

    /// True if parameters of the stage are gathered too: its gradients are scattered.
    bool is_sharded(std::size_t rank, Stage stage) const {
        if (rank >= trace_.program.ranks.size()) return false;
        return std::ranges::any_of(trace_.program.ranks[rank], [&](const Action& action) {
            const auto* gather = std::get_if<Unshard>(&action);
            return gather != nullptr && gather->stage == stage;
        });
    }

    /// Adds a dependency on a node of the rank that ends before this one begins.
    void depend(std::size_t rank, std::vector<Id>& on, const Node& node, Id id) {
        if (id == 0 || nodes_[rank][id - 1].end_us > node.begin_us) return;
        if (std::ranges::find(on, id) == on.end()) on.push_back(id);
    }

    void needs(std::size_t rank, Node& node, const Compute& c) {
        const int stages = trace_.program.stage_count();
        if (const auto input = neighbour_input_of(c, stages)) {
            depend(rank, node.data_deps, node, found(received_, rank, *input));
            depend(rank, node.data_deps, node, found(made_, rank, *input));
        }
        const auto gathered = gathered_.find({rank, c.stage});
        if (gathered != gathered_.end()) depend(rank, node.data_deps, node, gathered->second);
    }

    void sends(std::size_t rank, Node& node, const Send& send) {
        node.type = NodeType::CommSend;
        node.tag = tag_of(send.message);
        depend(rank, node.data_deps, node, found(made_, rank, send.message));
        depend(rank, node.ctrl_deps, node, channels_[{rank, send.to, true, send.message.kind}]);
    }

    void receives(std::size_t rank, Node& node, const Recv& recv) {
        node.type = NodeType::CommRecv;
        node.tag = tag_of(recv.message);
        depend(rank, node.ctrl_deps, node, channels_[{rank, recv.from, false, recv.message.kind}]);
    }

    void collective(std::size_t rank, Node& node, int kind) {
        after_latest(rank, node, NodeType::CommColl);
        node.collective = kind;
        holders_[group_key(node.span->action)].insert(rank);
    }

    /// The members of a stage's reduction or gather hold that stage; those of the tied gradient
    /// hold the tied tensor.
    static Action group_key(const Action& action) {
        if (const auto* reduce = std::get_if<ReduceGrad>(&action)) return Unshard{reduce->stage};
        if (std::holds_alternative<TiedGradReduce>(action)) return TiedGradReduce{};
        return action;
    }

    /// The name of the process group of a rank's collective: a number. The group of all ranks is 0.
    std::string group_of(const Action& action, const Replica& replica) {
        if (std::holds_alternative<GradNorm>(action)) return "0";
        const bool tied = std::holds_alternative<TiedGradReduce>(action);
        std::vector<std::size_t> members;
        for (const std::size_t rank : holders_.at(group_key(action))) {
            if (tied) {
                members.push_back(world_.rank(replica.tp, replica.cp, replica.dp, rank));
                continue;
            }
            for (int dp = 0; dp < world_.data; ++dp)
                for (int cp = 0; cp < world_.context; ++cp)
                    members.push_back(world_.rank(replica.tp, cp, dp, rank));
        }
        std::ranges::sort(members);
        return std::to_string(
            groups_.emplace(std::move(members), groups_.size() + 1).first->second);
    }

    std::string groups_file() const {
        std::vector<const std::vector<std::size_t>*> by_number(groups_.size());
        for (const auto& [members, number] : groups_) by_number[number - 1] = &members;
        std::string out = "{";
        for (std::size_t i = 0; i < by_number.size(); ++i)
            out += fmt::format("{}\n  \"{}\": [{}]", i == 0 ? "" : ",", i + 1,
                               fmt::join(*by_number[i], ", "));
        return out + "\n}\n";
    }

    void after_latest(std::size_t rank, Node& node, NodeType type) {
        node.type = type;
        Id latest = 0;
        for (const Id id : latest_[rank])
            if (nodes_[rank][id - 1].end_us <= node.begin_us &&
                (latest == 0 || nodes_[rank][id - 1].end_us > nodes_[rank][latest - 1].end_us))
                latest = id;
        depend(rank, node.ctrl_deps, node, latest);
    }

    /// Appends the node, preceded by a WAIT where its dependencies end before it begins. A receive
    /// waits for its send itself.
    Id place(std::size_t rank, Node node) {
        std::int64_t ready = 0;
        for (const std::vector<Id>* deps : {&node.ctrl_deps, &node.data_deps})
            for (const Id id : *deps) ready = std::max(ready, nodes_[rank][id - 1].end_us);
        if (node.begin_us > ready && node.type != NodeType::CommRecv) {
            Node wait;
            wait.name = "WAIT";
            wait.begin_us = ready;
            wait.end_us = node.begin_us;
            wait.ctrl_deps = node.ctrl_deps;
            wait.ctrl_deps.insert(wait.ctrl_deps.end(), node.data_deps.begin(),
                                  node.data_deps.end());
            nodes_[rank].push_back(std::move(wait));
            node.ctrl_deps = {nodes_[rank].size()};
        }
        nodes_[rank].push_back(std::move(node));
        return nodes_[rank].size();
    }

    void remember(std::size_t rank, const Span& span, Id id) {
        constexpr std::size_t kKept = 8;  // the latest of every lane suffice
        latest_[rank].push_back(id);
        if (latest_[rank].size() > kKept) latest_[rank].erase(latest_[rank].begin());
        if (span.lane == Lane::Compute) last_compute_[rank] = id;
        const auto makes = [&](const Compute& c) {
            if (const auto result = result_of(c)) made_[{rank, *result}] = id;
        };
        if (const auto* c = std::get_if<Compute>(&span.action)) makes(*c);
        if (const auto* o = std::get_if<Overlap>(&span.action)) {
            makes(o->first);
            makes(o->second);
        }
        if (const auto* u = std::get_if<Unshard>(&span.action)) gathered_[{rank, u->stage}] = id;
        if (const auto* s = std::get_if<Send>(&span.action))
            channels_[{rank, s->to, true, s->message.kind}] = id;
        if (const auto* r = std::get_if<Recv>(&span.action)) {
            channels_[{rank, r->from, false, r->message.kind}] = id;
            received_[{rank, r->message}] = id;
        }
    }

    /// The same number for the two ends of a message.
    int tag_of(const Message& message) {
        return tags_.emplace(message, static_cast<int>(tags_.size())).first->second;
    }

    using ByMessage = std::map<std::pair<std::size_t, Message>, Id>;
    static Id found(const ByMessage& ids, std::size_t rank, const Message& message) {
        const auto id = ids.find({rank, message});
        return id == ids.end() ? 0 : id->second;
    }

    std::string encoded(const Node& node, Id id, std::size_t rank, const Replica& replica) {
        Proto out;
        out.number(1, id);
        out.bytes(2, node.name);
        out.number(3, static_cast<std::uint64_t>(node.type));
        out.packed(4, node.ctrl_deps);
        out.packed(5, node.data_deps);
        out.number(6, static_cast<std::uint64_t>(node.begin_us));
        out.number(7, static_cast<std::uint64_t>(node.end_us - node.begin_us));
        out.attribute(10, "is_cpu_op", kBool, node.name == "WAIT" ? 1 : 0);
        if (node.span == nullptr) return out.text();
        const auto bytes = static_cast<std::uint64_t>(node.span->bytes.count);
        if (node.type == NodeType::CommSend || node.type == NodeType::CommRecv) {
            const auto* send = std::get_if<Send>(&node.span->action);
            const auto* recv = std::get_if<Recv>(&node.span->action);
            const auto number = [&](std::size_t pipeline_rank) {
                return world_.rank(replica.tp, replica.cp, replica.dp, pipeline_rank);
            };
            const std::uint64_t from =
                number(recv != nullptr ? static_cast<std::size_t>(recv->from.index) : rank);
            const std::uint64_t to =
                number(send != nullptr ? static_cast<std::size_t>(send->to.index) : rank);
            out.attribute(10, "comm_src", kInt32, from);
            out.attribute(10, "comm_dst", kInt32, to);
            out.attribute(10, "comm_tag", kInt32, static_cast<std::uint64_t>(node.tag));
            out.attribute(10, "comm_size", kInt64, bytes);
        } else if (node.type == NodeType::CommColl) {
            out.attribute(10, "comm_type", kInt64, static_cast<std::uint64_t>(node.collective));
            out.attribute(10, "comm_size", kInt64, bytes);
            out.text_attribute(10, "pg_name", group_of(node.span->action, replica));
        }
        return out.text();
    }

    std::string file_of(std::size_t rank, const Replica& replica) {
        Proto metadata;
        metadata.bytes(1, "0.0.4");
        const auto append = [&](std::string& all, const std::string& message) {
            Proto length;
            length.varint(message.size());
            all += length.text() + message;
        };
        std::string all;
        append(all, metadata.text());
        for (std::size_t i = 0; i < nodes_[rank].size(); ++i)
            append(all, encoded(nodes_[rank][i], i + 1, rank, replica));
        return all;
    }

    const Trace& trace_;
    World world_;
    std::map<Action, std::set<std::size_t>> holders_;         ///< pipeline ranks by group_key()
    std::map<std::vector<std::size_t>, std::size_t> groups_;  ///< numbers by members
    Instant origin_{};
    std::size_t ranks_ = 0;
    std::vector<std::vector<Node>> nodes_;  ///< by rank
    std::vector<std::vector<Id>> latest_;
    std::vector<Id> last_compute_;
    ByMessage made_;
    ByMessage received_;
    std::map<std::pair<std::size_t, Stage>, Id> gathered_;
    std::map<std::tuple<std::size_t, Rank, bool, Message::Kind>, Id> channels_;
    std::map<Message, int> tags_;
};

}  // namespace

std::size_t chakra_files(const TraceHeader& header, ChakraRanks which) {
    const auto of = [](int number) { return static_cast<std::size_t>(std::max(1, number)); };
    return of(header.pipeline) * (which == ChakraRanks::OfOnePipeline
                                      ? 1
                                      : of(header.tensor) * of(header.context) * of(header.data));
}

std::string write_chakra(const Trace& trace, ChakraRanks which,
                         const std::function<void(std::size_t rank, std::string text)>& file) {
    World world;
    if (which == ChakraRanks::All)
        world = {trace.header.tensor, trace.header.context, trace.header.data};
    return ChakraWriter(trace, world).write(file);
}

}  // namespace debubble
