#include "sim/engine/build_task_graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/engine/cost_table.h"
#include "sim/engine/task_index.h"

namespace debubble::sim {
namespace {

/// Writes the tasks of one training step, rank by rank, position by position. Streams continue from
/// step to step.
class StepBuilder {
public:
    StepBuilder(const Program& program, TaskGraph& graph, CostTable& costs,
                std::vector<RankStreams>& streams, int step, const SimulateOptions& options)
        : program_(program),
          graph_(graph),
          costs_(costs),
          streams_(streams),
          messages_(program),
          holders_(program.stage_count()),
          reductions_(program.stage_count()),
          step_(static_cast<std::int16_t>(step)),
          options_(options) {
        for (const auto& row : program.placement.stages)
            for (const Stage stage : row) ++holders_[stage.index];
    }

    void add_rank(Rank rank) {
        rank_ = rank;
        mine_ = &streams_[rank.index];
        for (StageTasks& stage : mine_->stages) stage.reductions = 0;
        wait_for_host();
        for (const Action& action : program_.ranks[rank.index])
            if (const auto* unshard = std::get_if<Unshard>(&action)) gather_hidden(unshard->stage);
        for (const Action& action : program_.ranks[rank.index]) {
            const ActionTasks tasks = std::visit([&](const auto& a) { return add(a); }, action);
            if (step_ == 0) graph_.tasks_of[rank.index].push_back(tasks);
        }
    }

    /// A channel is FIFO in the order of its sender's list.
    void chain_channels(Rank from) {
        for (const Action& action : program_.ranks[from.index]) {
            const auto* send = std::get_if<Send>(&action);
            if (send == nullptr) continue;
            const TaskId task = messages_.transfer(send->message);
            TaskId& last = streams_[from.index].channel(send->to, send->message.kind);
            wait_for_end(task, last);
            last = task;
        }
    }

private:
    static constexpr std::array<TaskId, 2> kNothing{kNoTask, kNoTask};

    TaskId new_flow(Lane lane, std::int32_t cost) {
        graph_.tasks.push_back({lane, true, step_, cost, 0});
        return static_cast<TaskId>(graph_.tasks.size() - 1);
    }
    void wait_for_end(TaskId task, TaskId of) {
        if (of == kNoTask || of == task) return;
        graph_.after_end.add(of, task);
        ++graph_.tasks[task].open_edges;
    }
    void wait_for_begin(TaskId task, TaskId of) {
        if (of == kNoTask) return;
        graph_.after_begin.add(of, task);
        ++graph_.tasks[task].open_edges;
    }

    /// The host's time before the first action of the rank's step, which is no action itself.
    void wait_for_host() {
        const std::int32_t cost = costs_.between_steps(rank_);
        if (cost == CostTable::kNone) return;
        const TaskId host = new_flow(Lane::Compute, cost);
        wait_for_end(host, mine_->compute.last);
        mine_->compute = {host, host};
    }

    TaskId new_compute(std::int32_t cost) {
        graph_.tasks.push_back({Lane::Compute, false, step_, cost, 0});
        const auto task = static_cast<TaskId>(graph_.tasks.size() - 1);
        wait_for_end(task, mine_->compute.last);
        for (const TaskId open : mine_->open) wait_for_end(task, open);
        mine_->open.clear();
        return task;
    }
    /// `gathered` is the last task of the gathers that run at the same time, if there are any.
    ActionTasks next_compute(std::int32_t cost, std::array<TaskId, 2> gathered = kNothing) {
        const TaskId first = new_compute(cost);
        TaskId last = first;
        if (graph_.compute_costs[cost].communicates() || gathered != kNothing) {
            last = new_flow(Lane::Compute, costs_.nothing());
            wait_for_end(last, first);
            for (const TaskId of : gathered) wait_for_end(last, of);
            for (const InnerFlow& flow : graph_.compute_costs[cost].flows) {
                if (flow.bytes.count == 0) break;
                const TaskId inner = new_flow(Lane::Collective, costs_.inner(flow));
                wait_for_begin(inner, first);
                wait_for_end(last, inner);
            }
        }
        return mine_->compute = {first, last};
    }
    /// Gives the gathered parameters once per step and stage.
    TaskId take_gathered(const Compute& c) {
        return std::exchange(mine_->of(c.stage).gathered, kNoTask);
    }
    void connect(ActionTasks tasks, const Compute& c) {
        StageTasks& stage = mine_->of(c.stage);
        wait_for_end(tasks.first, messages_.incoming(c));
        wait_for_end(tasks.first, stage.unshard);
        if (waits_for_reduction(c)) wait_for_end(tasks.first, stage.reduced);
        if (c.pass != Pass::Forward)
            wait_for_end(tasks.first, messages_.reload(c.stage, c.micro_batch));
        if (c.pass != Pass::BackwardWeight) messages_.producer(output_of(c)) = tasks.last;
        stage.compute = tasks;
        if (c.pass == Pass::Backward || c.pass == Pass::BackwardWeight) stage.backward = tasks;
    }
    /// Whole gradients of a microbatch have one buffer per stage. A pass that leaves none, of a
    /// stage with one holder, reduces layer by layer and need not wait.
    bool waits_for_reduction(const Compute& c) {
        return c.pass != Pass::Forward && (is_shared(c.stage) || costs_.leaves_unreduced(c));
    }
    bool is_shared(Stage stage) const { return holders_[stage.index] > 1; }
    static Message output_of(const Compute& c) {
        return {c.pass == Pass::Forward ? Message::Kind::Activation : Message::Kind::Gradient,
                c.stage, c.micro_batch};
    }

    ActionTasks add(const Compute& c) {
        const ActionTasks tasks = next_compute(costs_.of(c, rank_), {take_gathered(c), kNoTask});
        connect(tasks, c);
        return tasks;
    }
    ActionTasks add(const Overlap& o) {
        const ActionTasks tasks =
            next_compute(costs_.of(o, rank_), {take_gathered(o.first), take_gathered(o.second)});
        connect(tasks, o.first);
        connect(tasks, o.second);
        return tasks;
    }
    ActionTasks add(const Recompute& r) {
        const ActionTasks tasks = next_compute(costs_.of(r, rank_));
        wait_for_end(tasks.first, mine_->of(r.stage).unshard);
        return mine_->of(r.stage).compute = tasks;
    }
    ActionTasks add(const OptimizerStep&) {
        const ActionTasks tasks = next_compute(costs_.optimizer(rank_));
        wait_for_end(tasks.first, mine_->reduce);
        mine_->optimizer = tasks.last;
        return tasks;
    }

    ActionTasks add(const Send& s) {
        const TaskId task = transfer(s.message, rank_, s.to);
        wait_for_end(task, messages_.producer(s.message));
        if (options_.header.sends_block) mine_->open.push_back(task);
        if (shares_streams(options_.header.transport)) share_stream(task, s.to);
        return {task, task};
    }
    ActionTasks add(const Recv& r) {
        const TaskId task = transfer(r.message, r.from, rank_);
        if (shares_streams(options_.header.transport))
            share_stream(task, r.from);
        else
            wait_for_begin(task, mine_->compute.first);
        return {task, task};
    }
    /// A message begins when all that its ranks have listed before it on its streams has ended.
    void share_stream(TaskId task, Rank peer) {
        wait_for_end(task, mine_->compute.last);
        if (options_.header.transport == Transport::Batched) {
            mine_->open.push_back(task);
            return;
        }
        TaskId& last =
            mine_->stream_with(options_.header.transport == Transport::Pair ? peer : Rank{-1});
        wait_for_end(task, last);
        last = task;
    }
    /// The transfer is made by whichever end is read first.
    TaskId transfer(const Message& message, Rank from, Rank to) {
        TaskId& task = messages_.transfer(message);
        if (task == kNoTask) task = new_flow(Lane::Send, costs_.of(message, from, to));
        return task;
    }

    /// The hidden part of the Unshard at the end of the step before, which is not played itself.
    void gather_hidden(Stage stage) {
        const CostTable::Hidden hidden = costs_.unshard_hidden(stage, rank_);
        if (hidden.flow == CostTable::kNone) return;
        const TaskId hidden_gather = new_flow(Lane::Collective, hidden.flow);
        wait_for_end(hidden_gather, mine_->gather);
        mine_->gather = hidden_gather;
        const TaskId used = new_flow(Lane::Collective, costs_.delay(hidden.overlap));
        wait_for_end(used, hidden_gather);
        mine_->of(stage).gathered = used;
    }
    /// A gather that is listed after a Reshard takes the memory that it has dropped.
    ActionTasks add(const Unshard& u) {
        const TaskId task = new_flow(Lane::Collective, costs_.unshard(u.stage, rank_));
        wait_for_begin(task, mine_->compute.first);
        wait_for_end(task, mine_->optimizer);
        wait_for_end(task, mine_->gather);
        wait_for_end(task, mine_->reshard);
        mine_->gather = mine_->of(u.stage).unshard = task;
        return {task, task};
    }
    ActionTasks add(const Reshard& r) {
        const TaskId task = new_flow(Lane::Collective, costs_.nothing());
        wait_for_end(task, mine_->of(r.stage).compute.last);
        wait_for_end(task, mine_->of(r.stage).unshard);
        wait_for_end(task, mine_->reshard);
        mine_->reshard = task;
        return {task, task};
    }

    ActionTasks add(const ReduceGrad& r) {
        std::vector<Reduction>& of_stage = reductions_[r.stage.index];
        const auto which = static_cast<std::size_t>(mine_->of(r.stage).reductions++);
        if (which == of_stage.size()) of_stage.push_back(new_reduction(r.stage));
        const Reduction& reduction = of_stage[which];
        if (reduction.hidden != kNoTask) hide(reduction, r.stage);
        join(reduction.tasks.first, mine_->of(r.stage).compute.last);
        mine_->reduce = reduction.tasks.last;
        mine_->of(r.stage).reduced = reduction.tasks.last;
        if (options_.header.reductions_block && !is_shared(r.stage))
            mine_->open.push_back(reduction.tasks.last);
        return reduction.tasks;
    }
    /// A ReduceGrad and the part of it that the backward hides.
    struct Reduction {
        ActionTasks tasks;
        TaskId hidden = kNoTask;
    };
    Reduction new_reduction(Stage stage) {
        const CostTable::Hidden hidden = costs_.reduce_grad_hidden(stage);
        const TaskId rest = new_flow(Lane::Collective, costs_.reduce_grad(stage));
        if (hidden.flow == CostTable::kNone) return {{rest, rest}, kNoTask};
        Reduction reduction;
        reduction.hidden = new_flow(Lane::Collective, hidden.flow);
        reduction.tasks = {new_flow(Lane::Collective, costs_.nothing()), rest};
        wait_for_end(rest, reduction.tasks.first);
        wait_for_end(rest, reduction.hidden);
        return reduction;
    }
    /// Runs from the time when this rank's backward has made the first gradients.
    void hide(const Reduction& reduction, Stage stage) {
        const TaskId backward = mine_->of(stage).backward.first;
        if (backward != kNoTask) {
            const Duration length = graph_.compute_costs[graph_.tasks[backward].cost].duration;
            const Duration overlap = costs_.reduce_grad_hidden(stage).overlap;
            const TaskId made =
                new_flow(Lane::Collective, costs_.delay(std::max(Duration{}, length - overlap)));
            wait_for_begin(made, backward);
            wait_for_end(reduction.hidden, made);
        }
        wait_for_end(reduction.hidden, mine_->reduce);
    }
    ActionTasks add(const TiedGradReduce& t) {
        if (tied_ == kNoTask)
            tied_ = new_flow(Lane::Collective, costs_.tied_grad(t.stage, tied_holders()));
        return join(tied_, mine_->of(t.stage).compute.last);
    }
    ActionTasks add(const GradNorm&) {
        if (norm_ == kNoTask) norm_ = new_flow(Lane::Collective, costs_.grad_norm());
        return join(norm_, mine_->compute.last);
    }
    /// One rank's part in a reduction.
    ActionTasks join(TaskId task, TaskId operand) {
        wait_for_end(task, operand);
        wait_for_end(task, mine_->reduce);
        mine_->reduce = task;
        return {task, task};
    }
    std::vector<Rank> tied_holders() const {
        std::vector<Rank> holders;
        for (int rank = 0; rank < program_.shape.ranks; ++rank)
            for (const Action& action : program_.ranks[rank])
                if (std::holds_alternative<TiedGradReduce>(action)) {
                    holders.push_back(Rank{rank});
                    break;
                }
        return holders;
    }

    ActionTasks add(const Offload& o) {
        const TaskId task = next_copy(o.stage);
        wait_for_end(task, messages_.producer({Message::Kind::Activation, o.stage, o.micro_batch}));
        return {task, task};
    }
    ActionTasks add(const Reload& r) {
        const TaskId task = next_copy(r.stage);
        wait_for_begin(task, mine_->compute.first);
        messages_.reload(r.stage, r.micro_batch) = task;
        return {task, task};
    }
    TaskId next_copy(Stage stage) {
        const TaskId task = new_flow(Lane::Copy, costs_.offload(stage, rank_));
        wait_for_end(task, mine_->copy);
        if (options_.header.copies_block) {
            wait_for_end(task, mine_->compute.last);
            mine_->open.push_back(task);
        }
        return mine_->copy = task;
    }

    const Program& program_;
    TaskGraph& graph_;
    CostTable& costs_;
    std::vector<RankStreams>& streams_;
    MessageIndex messages_;
    std::vector<int> holders_;                        // number of holders, by stage
    std::vector<std::vector<Reduction>> reductions_;  // the ReduceGrads of the step, by stage
    TaskId tied_ = kNoTask;
    TaskId norm_ = kNoTask;
    std::int16_t step_;
    const SimulateOptions& options_;
    Rank rank_;
    RankStreams* mine_ = nullptr;
};

}  // namespace

TaskGraph build_task_graph(const Program& program, const CostModel& costs,
                           const MemoryModel& memory, const SimulateOptions& options) {
    TaskGraph graph;
    std::size_t actions = 0;
    for (const ActionList& list : program.ranks) actions += list.size();
    graph.tasks.reserve(actions * options.steps);
    graph.tasks_of.resize(program.ranks.size());

    CostTable table(program, costs, memory, graph);
    const PlacementIndex index(program.placement);
    std::vector<RankStreams> streams(program.ranks.size());
    for (Rank rank{0}; rank.index < program.shape.ranks; ++rank.index) {
        RankStreams& stream = streams[rank.index];
        stream.index = &index;
        stream.rank = rank;
        stream.stages.resize(program.placement.stages_of(rank).size());
    }
    for (int step = 0; step < options.steps; ++step) {
        StepBuilder builder(program, graph, table, streams, step, options);
        for (int rank = 0; rank < program.shape.ranks; ++rank) builder.add_rank(Rank{rank});
        for (int rank = 0; rank < program.shape.ranks; ++rank) builder.chain_channels(Rank{rank});
    }
    graph.after_begin.pack(graph.tasks.size());
    graph.after_end.pack(graph.tasks.size());
    return graph;
}

}  // namespace debubble::sim
