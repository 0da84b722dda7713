#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "trace/executed_order.h"
#include "trace/steps.h"

namespace debubble {
namespace {

/// A sequence of actions that run one after the other on a rank. A Reshard only frees memory: each
/// stage has its own queue for it.
struct Queue {
    enum class Kind { Computes, Sends, Recvs, Gathers, Frees, Reductions, Copies };
    Kind kind{};
    int which = 0;  ///< peer and kind of message, or stage
    friend auto operator<=>(const Queue&, const Queue&) = default;
};

int channel(Rank peer, const Message& message) {
    return 2 * peer.index + (message.kind == Message::Kind::Gradient ? 1 : 0);
}

Queue queue_of(const Action& action) {
    using enum Queue::Kind;
    return std::visit(Overloaded{
                          [](const Compute&) { return Queue{Computes}; },
                          [](const Recompute&) { return Queue{Computes}; },
                          [](const Overlap&) { return Queue{Computes}; },
                          [](const OptimizerStep&) { return Queue{Computes}; },
                          [](const Send& s) {
                              return Queue{Sends, channel(s.to, s.message)};
                          },
                          [](const Recv& r) {
                              return Queue{Recvs, channel(r.from, r.message)};
                          },
                          [](const Unshard&) { return Queue{Gathers}; },
                          [](const Reshard& r) {
                              return Queue{Frees, r.stage.index};
                          },
                          [](const ReduceGrad&) { return Queue{Reductions}; },
                          [](const TiedGradReduce&) { return Queue{Reductions}; },
                          [](const GradNorm&) { return Queue{Reductions}; },
                          [](const Offload&) { return Queue{Copies}; },
                          [](const Reload&) { return Queue{Copies}; },
                      },
                      action);
}

std::string_view name_of(Queue::Kind kind) {
    constexpr ArrayBy<Queue::Kind, std::string_view, 7> kNames{
        "computes", "sends", "receives", "gathers", "frees", "reductions", "copies"};
    return kNames[kind];
}

using Queues = std::map<Queue, std::vector<std::size_t>>;

/// The executors of a trace, each with its spans by queue and start.
std::map<Executor, Queues> queues_of(const Trace& trace) {
    std::map<Executor, Queues> executors;
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        const Span& span = trace.spans[i];
        executors[{span.replica, span.rank}][queue_of(span.action)].push_back(i);
    }
    for (auto& [executor, queues] : executors)
        for (auto& [queue, spans] : queues)
            std::ranges::stable_sort(spans, {},
                                     [&](std::size_t i) { return trace.spans[i].begin; });
    return executors;
}

/// Matches one executor's spans with its rank's list.
class ListMatcher {
public:
    ListMatcher(const Program& program, const Trace& trace, int steps, Sentences& sentences)
        : program_(program), trace_(trace), steps_(steps), sentences_(sentences) {}

    std::vector<std::size_t> match(const Executor& executor, const Queues& executed) {
        who_ = words(executor, trace_.header);
        list_ = &program_.ranks[executor.rank.index];
        spans_.assign(complete(executed) ? list_->size() * steps_ : 0, 0);
        Queues listed;
        for (std::size_t i = 0; i < list_->size(); ++i) listed[queue_of((*list_)[i])].push_back(i);
        for (const auto& [queue, positions] : listed) {
            const auto found = executed.find(queue);
            static const std::vector<std::size_t> kNone;
            match_queue(queue, positions, found == executed.end() ? kNone : found->second);
        }
        for (const auto& [queue, spans] : executed)
            if (!listed.contains(queue)) match_queue(queue, {}, spans);
        return std::move(spans_);
    }

private:
    /// True if as many actions were executed as listed. If not, some queue shows which.
    bool complete(const Queues& executed) const {
        std::size_t count = 0;
        for (const auto& [queue, spans] : executed) count += spans.size();
        return count == list_->size() * steps_;
    }

    void match_queue(const Queue& queue, const std::vector<std::size_t>& positions,
                     const std::vector<std::size_t>& spans) {
        if (count_differs(positions, spans)) return;
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const std::size_t position = positions[i % positions.size()];
            const Action& expected = (*list_)[position];
            const Action& action = trace_.spans[spans[i]].action;
            if (action != expected)
                return sentences_.add(fmt::format(
                    "{} ran its {} in another order: {} where the program lists {} ({} of {})",
                    who_, name_of(queue.kind), words(action), words(expected), i + 1,
                    spans.size()));
            if (!spans_.empty()) spans_[i / positions.size() * list_->size() + position] = spans[i];
        }
    }

    /// True if an action was left out, executed too often or is not listed at all.
    bool count_differs(const std::vector<std::size_t>& positions,
                       const std::vector<std::size_t>& spans) {
        std::map<Action, std::pair<std::size_t, std::size_t>> times;  // number of times listed,
                                                                      // executed
        for (const std::size_t i : positions) times[(*list_)[i]].first += steps_;
        for (const std::size_t i : spans) ++times[trace_.spans[i].action].second;
        bool differs = false;
        for (const auto& [action, count] : times) {
            const auto& [listed, executed] = count;
            if (listed == executed) continue;
            differs = true;
            if (executed == 0)
                sentences_.add(fmt::format("{} never executed {}", who_, words(action)));
            else if (listed == 0)
                sentences_.add(fmt::format("{} executed {}, which the program does not list for it",
                                           who_, words(action)));
            else
                sentences_.add(fmt::format("{} executed {} {} times in {} steps, {} are listed",
                                           who_, words(action), executed, steps_, listed));
        }
        return differs;
    }

    const Program& program_;
    const Trace& trace_;
    std::size_t steps_;
    Sentences& sentences_;
    std::string who_;
    const ActionList* list_ = nullptr;
    std::vector<std::size_t> spans_;
};

/// Adds a sentence for each executor without a recorded span, up to the limit.
void add_silent_executors(const Program& program, std::map<Executor, Queues>& executors) {
    std::set<std::int32_t> replicas;
    for (const auto& [executor, queues] : executors) replicas.insert(executor.replica);
    if (replicas.empty()) replicas.insert(0);
    std::size_t silent = 0;
    for (const std::int32_t replica : replicas)
        for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank) {
            const bool is_new = executors.try_emplace({replica, Rank{rank}}).second;
            if (is_new && ++silent > kMostSentences) return;
        }
}

}  // namespace

Execution match_lists(const Program& program, const Trace& trace, Sentences& sentences) {
    Execution execution;
    execution.steps = std::max(1, steps_in(trace));
    std::map<Executor, Queues> executors = queues_of(trace);
    add_silent_executors(program, executors);

    ListMatcher matcher(program, trace, execution.steps, sentences);
    for (const auto& [executor, queues] : executors) {
        if (sentences.overflown()) break;
        const bool known = executor.rank.index >= 0 &&
                           executor.rank.index < static_cast<int>(program.ranks.size());
        if (!known)
            sentences.add(fmt::format("{} is not one of the program's {} ranks",
                                      words(executor, trace.header), program.ranks.size()));
        else if (queues.empty() && !program.ranks[executor.rank.index].empty())
            sentences.add(fmt::format("nothing of {} was recorded", words(executor, trace.header)));
        else
            execution.spans[executor] = matcher.match(executor, queues);
    }
    return execution;
}

}  // namespace debubble
