#include "sim/engine/simulate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "sim/engine/build_task_graph.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/follow_memory.h"
#include "sim/engine/longest_path.h"

namespace debubble::sim {
namespace {

/// The event loop: begins a task when its last open edge fires, and ends it when its time has
/// passed or its bytes have arrived.
class EventLoop {
public:
    EventLoop(TaskGraph& graph, const CostModel& costs)
        : graph_(graph),
          network_(costs.links(), queue_),
          times_(graph.tasks.size()),
          parts_left_(graph.tasks.size()) {
        begun_.reserve(graph.tasks.size());
    }

    void run(const std::stop_token& stop) {
        constexpr std::size_t kEventsBetween = 4096;  // some 0.2 ms
        const auto tasks = static_cast<TaskId>(graph_.tasks.size());
        for (TaskId task = 0; task < tasks; ++task)
            if (graph_.tasks[task].open_edges == 0) ready_.push_back(task);
        begin_ready();
        while (!queue_.empty()) {
            if (queue_.handled() % kEventsBetween == 0) give_up_if(stop);
            handle(queue_.next());
            begin_ready();
        }
    }

    PlayedTasks result() {
        return {std::move(times_), std::move(begun_), ended_, queue_.handled()};
    }

private:
    void handle(const Event& event) {
        switch (event.kind()) {
            case Event::Kind::TaskEnd: end(event.task); break;
            case Event::Kind::FlowBegin: {
                const Flow& flow = graph_.flows[graph_.tasks[event.task].cost];
                network_.join(event.task, flow.bytes, flow.links);
                for (const LinkBytes& part : flow.also)
                    network_.join(name_part(event.task), part.bytes, part.links);
                break;
            }
            case Event::Kind::FlowEnd:
                if (network_.leave_if_current(event.task, event.version)) end_part(event.task);
                break;
        }
    }

    /// The bytes of a flow on its other tiers are known to the network by numbers beyond those of
    /// the tasks.
    TaskId name_part(TaskId task) {
        ++parts_left_[task];
        if (unused_parts_.empty()) {
            task_of_part_.push_back(task);
            return static_cast<TaskId>(graph_.tasks.size() + task_of_part_.size() - 1);
        }
        const TaskId part = unused_parts_.back();
        unused_parts_.pop_back();
        task_of_part_[part - graph_.tasks.size()] = task;
        return part;
    }
    void end_part(TaskId part) {
        TaskId task = part;
        if (static_cast<std::size_t>(part) >= graph_.tasks.size()) {
            task = task_of_part_[part - graph_.tasks.size()];
            unused_parts_.push_back(part);
        }
        if (parts_left_[task] > 0)
            --parts_left_[task];
        else
            end(task);
    }

    /// A worklist, not recursion: chains of tasks without duration may be long.
    void begin_ready() {
        for (std::size_t i = 0; i < ready_.size(); ++i) begin(ready_[i]);
        ready_.clear();
    }

    void begin(TaskId id) {
        const Task& task = graph_.tasks[id];
        times_[id].begin = queue_.now();
        begun_.push_back(id);
        fire(graph_.after_begin.of(id));
        if (!task.is_flow) {
            queue_.at(queue_.now() + graph_.compute_costs[task.cost].duration, Event::Kind::TaskEnd,
                      id);
            return;
        }
        const Flow& flow = graph_.flows[task.cost];
        const bool moves = !flow.links.empty() && flow.bytes.count > 0;
        queue_.at(queue_.now() + flow.latency,
                  moves ? Event::Kind::FlowBegin : Event::Kind::TaskEnd, id);
    }

    void end(TaskId id) {
        times_[id].end = queue_.now();
        ++ended_;
        fire(graph_.after_end.of(id));
    }

    void fire(std::span<const TaskId> successors) {
        for (const TaskId next : successors)
            if (--graph_.tasks[next].open_edges == 0) ready_.push_back(next);
    }

    TaskGraph& graph_;
    EventQueue queue_;
    FlowNetwork network_;
    std::vector<TaskTimes> times_;
    std::vector<TaskId> begun_;
    std::vector<TaskId> ready_;
    std::vector<std::uint8_t>
        parts_left_;  ///< by task: parts of its flow that are under way, less one
    std::vector<TaskId> task_of_part_;
    std::vector<TaskId> unused_parts_;
    std::size_t ended_ = 0;
};

/// Plays all tasks, event by event where flows meet on links.
PlayedTasks play(TaskGraph& graph, const CostModel& costs, const SimulateOptions& options) {
    if (!options.by_events)
        if (auto played =
                play_longest_path(graph, costs.links(), options.record_spans, options.stop))
            return *std::move(played);
    EventLoop engine(graph, costs);
    give_up_if(options.stop);
    engine.run(options.stop);
    return engine.result();
}

[[noreturn]] void report_deadlock(const Program& program, const TaskGraph& graph) {
    for (std::size_t rank = 0; rank < graph.tasks_of.size(); ++rank)
        for (std::size_t i = 0; i < graph.tasks_of[rank].size(); ++i)
            if (graph.tasks[graph.tasks_of[rank][i].first].open_edges > 0)
                throw InputError(fmt::format("the schedule waits forever: rank {} at {}", rank,
                                             to_text(program.ranks[rank][i])));
    throw InputError("the schedule waits forever");
}

Lane lane_of(const Action& action, Lane of_task) {
    if (std::holds_alternative<Recv>(action)) return Lane::Recv;
    return of_task;
}

/// An action of a rank's list as a number: of those that begin together, the rank, the lane and the
/// position in the list decide in turn (of 28, 4 and 32 bits). A span is nine times as long. No two
/// are equal.
class SpanKey {
public:
    SpanKey(std::int32_t rank, Lane lane, std::uint32_t position)
        : number_(std::uint64_t{static_cast<std::uint32_t>(rank)} << 36U |
                  static_cast<std::uint64_t>(lane) << 32U | position) {}

    std::size_t rank() const { return number_ >> 36U; }
    Lane lane() const { return static_cast<Lane>(number_ >> 32U & 15U); }
    std::size_t position() const { return number_ & UINT32_MAX; }

    friend auto operator<=>(const SpanKey&, const SpanKey&) = default;

private:
    std::uint64_t number_;
};

/// Actions in the order in which their first tasks began, which is that of time: only those that
/// begin at one instant are left to be sorted.
std::vector<SpanKey> order_of_spans(const Program& program, const TaskGraph& graph,
                                    const std::vector<TaskTimes>& times,
                                    const std::vector<TaskId>& begun) {
    // Several actions may have one first task, as a Send and its Recv have: a chain of each task.
    constexpr std::uint32_t kEnd = UINT32_MAX;
    constexpr std::size_t kFew = 16;  // so many are put in order one by one
    std::vector<SpanKey> listed;
    std::vector<std::uint32_t> next;
    std::vector<std::uint32_t> first(graph.tasks.size(), kEnd);
    std::size_t count = 0;
    for (const ActionList& list : program.ranks) count += list.size();
    listed.reserve(count);
    next.reserve(count);
    for (std::int32_t rank = 0; rank < program.shape.ranks; ++rank) {
        const ActionList& list = program.ranks[rank];
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const TaskId id = graph.tasks_of[rank][i].first;
            std::uint32_t& head = first[id];
            next.push_back(std::exchange(head, static_cast<std::uint32_t>(listed.size())));
            listed.emplace_back(rank, lane_of(list[i], graph.tasks[id].lane), i);
        }
    }
    std::vector<SpanKey> keys;
    keys.reserve(listed.size());
    Instant now = Instant::min();
    std::size_t together = 0;  // where those that begin now begin
    const auto sort = [&] {
        if (keys.size() - together > kFew)
            std::sort(keys.begin() + static_cast<std::ptrdiff_t>(together), keys.end());
        together = keys.size();
    };
    for (const TaskId id : begun) {
        if (times[id].begin != now) sort();
        now = times[id].begin;
        for (std::uint32_t at = first[id]; at != kEnd; at = next[at]) {
            keys.push_back(listed[at]);
            if (keys.size() - together > kFew) continue;
            for (std::size_t i = keys.size() - 1; i > together && keys[i] < keys[i - 1]; --i)
                std::swap(keys[i], keys[i - 1]);
        }
    }
    sort();
    return keys;
}

std::vector<Span> record_spans(const Program& program, const TaskGraph& graph,
                               const std::vector<TaskTimes>& times,
                               const std::vector<TaskId>& begun) {
    const std::vector<SpanKey> order = order_of_spans(program, graph, times, begun);
    std::vector<Span> spans;
    spans.reserve(order.size());
    for (const SpanKey& key : order) {
        const auto [first, last] = graph.tasks_of[key.rank()][key.position()];
        const Task& task = graph.tasks[first];
        const Instant begin = times[first].begin;
        const Instant end = times[last].end;
        Span& span = spans.emplace_back(Span{Rank{static_cast<std::int32_t>(key.rank())},
                                             0,
                                             key.lane(),
                                             program.ranks[key.rank()][key.position()],
                                             begin,
                                             end,
                                             {},
                                             {}});
        if (task.is_flow) {
            span.bytes = graph.flows[graph.tasks[last].cost].payload;
            continue;
        }
        // The time that a compute waits after its own duration is communication that nothing hides.
        const ComputeCost& cost = graph.compute_costs[task.cost];
        span.exposed = cost.exposed + (end - begin - cost.duration);
    }
    return spans;
}

/// The parts of every pair, each pair's from its begin on. Pairs of one cost have the same parts
/// but for their microbatches.
std::vector<PairPart> record_pairs(const Program& program, const TaskGraph& graph,
                                   const std::vector<TaskTimes>& times, const CostModel& costs) {
    std::vector<PairPart> all;
    std::map<std::pair<std::int32_t, Stage>, std::vector<PairPart>> known;
    for (std::int32_t rank = 0; rank < program.shape.ranks; ++rank) {
        const ActionList& list = program.ranks[rank];
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto* pair = std::get_if<Overlap>(&list[i]);
            if (pair == nullptr) continue;
            const TaskId task = graph.tasks_of[rank][i].first;
            const auto [parts, fresh] =
                known.try_emplace({graph.tasks[task].cost, pair->first.stage});
            if (fresh) parts->second = costs.pair_parts(*pair, Rank{rank});
            for (PairPart part : parts->second) {
                part.rank = Rank{rank};
                part.pass = part.pass.pass == Pass::Forward ? pair->first : pair->second;
                part.begin += times[task].begin - Instant{};
                part.end += times[task].begin - Instant{};
                all.push_back(part);
            }
        }
    }
    std::ranges::stable_sort(all, [](const PairPart& a, const PairPart& b) {
        return std::tie(a.begin, a.rank) < std::tie(b.begin, b.rank);
    });
    return all;
}

/// The time from the end of the step before it, or from the start.
Duration last_step(const std::vector<Instant>& ends) {
    return ends.back() - (ends.size() > 1 ? ends[ends.size() - 2] : Instant{});
}

TraceHeader header_of(const Program& program, const SimulateOptions& options, Duration step) {
    TraceHeader header = options.header;
    header.pipeline = program.shape.ranks;
    if (options.hash_program) header.program_hash = program_hash(program);
    if (step > Duration{}) header.step_time = step;
    return header;
}

}  // namespace

Simulation simulate(const Program& program, const CostModel& costs,
                    const SimulateOptions& options) {
    return simulate(program, costs, MemoryModel{}, options);
}

Simulation simulate(const Program& program, const CostModel& costs, const MemoryModel& memory,
                    const SimulateOptions& options) {
    TaskGraph graph = build_task_graph(program, costs, memory, options);
    const PlayedTasks played = play(graph, costs, options);
    if (played.ended != graph.tasks.size()) report_deadlock(program, graph);
    graph.after_begin = {};  // their memory serves the spans
    graph.after_end = {};

    Simulation result;
    result.events = played.events;
    result.step_ends.resize(options.steps);
    for (std::size_t id = 0; id < graph.tasks.size(); ++id) {
        Instant& last = result.step_ends[graph.tasks[id].step];
        last = std::max(last, played.times[id].end);
    }
    give_up_if(options.stop);
    if (options.follow_memory) {
        for (const std::vector<ActionTasks>& tasks : graph.tasks_of)
            result.times.push_back(times_of(tasks, played.times));
        FollowedMemory followed = follow_memory(program, result.times, memory,
                                                options.record_spans && options.sample_memory);
        result.trace.memory = std::move(followed.samples);
        result.peaks = followed.peaks;
        result.trace.peaks = std::move(followed.peaks);
    }
    result.trace.header = header_of(program, options, last_step(result.step_ends));
    give_up_if(options.stop);
    if (options.record_spans) {
        result.trace.spans = record_spans(program, graph, played.times, played.begun);
        result.trace.pair_parts = record_pairs(program, graph, played.times, costs);
        if (options.keep_program) result.trace.program = program;
    }
    return result;
}

}  // namespace debubble::sim
