#include "sim/task_graph.h"

#include "sim/cost_table.h"
#include "sim/task_index.h"

namespace debubble::sim {
namespace {

/// Writes the tasks of one training step, rank by rank, position by position.
/// Streams live on from step to step.
class StepBuilder {
public:
    StepBuilder(const Program& program, TaskGraph& graph, CostTable& costs,
                std::vector<RankStreams>& streams, int step, const SimulateOptions& options)
        : program_(program),
          graph_(graph),
          costs_(costs),
          streams_(streams),
          messages_(program),
          holders_(static_cast<std::size_t>(program.stage_count())),
          reductions_(static_cast<std::size_t>(program.stage_count())),
          step_(static_cast<std::int16_t>(step)),
          options_(options) {
        for (const auto& row : program.placement.stages)
            for (const Stage stage : row) ++holders_[static_cast<std::size_t>(stage.index)];
    }

    void add_rank(Rank rank) {
        rank_ = rank;
        mine_ = &streams_[rank.index];
        for (StageTasks& stage : mine_->stages) stage.reductions = 0;
        for (const Action& action : program_.ranks[rank.index]) {
            const TaskId task = std::visit([&](const auto& a) { return add(a); }, action);
            if (step_ == 0) graph_.task_of[rank.index].push_back(task);
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

    TaskId next_compute(std::int32_t cost) {
        graph_.tasks.push_back({Lane::Compute, false, step_, cost, 0});
        const auto task = static_cast<TaskId>(graph_.tasks.size() - 1);
        wait_for_end(task, mine_->compute);
        for (const TaskId open : mine_->open) wait_for_end(task, open);
        mine_->open.clear();
        return mine_->compute = task;
    }
    void connect(TaskId task, const Compute& c) {
        StageTasks& stage = mine_->of(c.stage);
        wait_for_end(task, messages_.incoming(c));
        wait_for_end(task, stage.unshard);
        if (c.pass != Pass::Forward) wait_for_end(task, messages_.reload(c.stage, c.micro_batch));
        if (c.pass != Pass::BackwardWeight) messages_.producer(output_of(c)) = task;
        stage.compute = task;
    }
    static Message output_of(const Compute& c) {
        return {c.pass == Pass::Forward ? Message::Kind::Activation : Message::Kind::Gradient,
                c.stage, c.micro_batch};
    }

    TaskId add(const Compute& c) {
        const TaskId task = next_compute(costs_.of(c, rank_));
        connect(task, c);
        return task;
    }
    TaskId add(const Overlap& o) {
        const TaskId task = next_compute(costs_.of(o, rank_));
        connect(task, o.first);
        connect(task, o.second);
        return task;
    }
    TaskId add(const Recompute& r) {
        const TaskId task = next_compute(costs_.of(r, rank_));
        wait_for_end(task, mine_->of(r.stage).unshard);
        return mine_->of(r.stage).compute = task;
    }
    TaskId add(const OptimizerStep&) {
        const TaskId task = next_compute(costs_.optimizer(rank_));
        wait_for_end(task, mine_->reduce);
        return mine_->optimizer = task;
    }

    TaskId add(const Send& s) {
        const TaskId task = transfer(s.message, rank_, s.to);
        wait_for_end(task, messages_.producer(s.message));
        if (options_.sends_block) mine_->open.push_back(task);
        return task;
    }
    TaskId add(const Recv& r) {
        const TaskId task = transfer(r.message, r.from, rank_);
        wait_for_begin(task, mine_->compute);
        return task;
    }
    /// Made by whichever end is read first.
    TaskId transfer(const Message& message, Rank from, Rank to) {
        TaskId& task = messages_.transfer(message);
        if (task == kNoTask) task = new_flow(Lane::Send, costs_.of(message, from, to));
        return task;
    }

    TaskId add(const Unshard& u) {
        const TaskId task = new_flow(Lane::Collective, costs_.unshard(u.stage, rank_));
        wait_for_begin(task, mine_->compute);
        wait_for_end(task, mine_->optimizer);
        wait_for_end(task, mine_->gather);
        wait_for_end(task, mine_->of(u.stage).reshard);
        return mine_->gather = mine_->of(u.stage).unshard = task;
    }
    TaskId add(const Reshard& r) {
        const TaskId task = new_flow(Lane::Collective, costs_.nothing());
        wait_for_end(task, mine_->of(r.stage).compute);
        wait_for_end(task, mine_->of(r.stage).unshard);
        return mine_->of(r.stage).reshard = task;
    }

    TaskId add(const ReduceGrad& r) {
        std::vector<TaskId>& of_stage = reductions_[r.stage.index];
        const auto which = static_cast<std::size_t>(mine_->of(r.stage).reductions++);
        if (which == of_stage.size())
            of_stage.push_back(new_flow(Lane::Collective, costs_.reduce_grad(r.stage)));
        const TaskId task = join(of_stage[which], mine_->of(r.stage).compute);
        if (options_.reductions_block && holders_[static_cast<std::size_t>(r.stage.index)] == 1)
            mine_->open.push_back(task);
        return task;
    }
    TaskId add(const TiedGradReduce& t) {
        if (tied_ == kNoTask)
            tied_ = new_flow(Lane::Collective, costs_.tied_grad(t.stage, tied_holders()));
        return join(tied_, mine_->of(t.stage).compute);
    }
    TaskId add(const GradNorm&) {
        if (norm_ == kNoTask) norm_ = new_flow(Lane::Collective, costs_.grad_norm());
        return join(norm_, mine_->compute);
    }
    /// One rank's part in a reduction.
    TaskId join(TaskId task, TaskId operand) {
        wait_for_end(task, operand);
        wait_for_end(task, mine_->reduce);
        return mine_->reduce = task;
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

    TaskId add(const Offload& o) {
        const TaskId task = next_copy(o.stage);
        wait_for_end(task, messages_.producer({Message::Kind::Activation, o.stage, o.micro_batch}));
        return task;
    }
    TaskId add(const Reload& r) {
        const TaskId task = next_copy(r.stage);
        wait_for_begin(task, mine_->compute);
        return messages_.reload(r.stage, r.micro_batch) = task;
    }
    TaskId next_copy(Stage stage) {
        const TaskId task = new_flow(Lane::Copy, costs_.offload(stage, rank_));
        wait_for_end(task, mine_->copy);
        if (options_.copies_block) {
            wait_for_end(task, mine_->compute);
            mine_->open.push_back(task);
        }
        return mine_->copy = task;
    }

    const Program& program_;
    TaskGraph& graph_;
    CostTable& costs_;
    std::vector<RankStreams>& streams_;
    MessageIndex messages_;
    std::vector<int> holders_;                     // by stage
    std::vector<std::vector<TaskId>> reductions_;  // by stage: the ReduceGrads of the step
    TaskId tied_ = kNoTask;
    TaskId norm_ = kNoTask;
    std::int16_t step_;
    const SimulateOptions& options_;
    Rank rank_;
    RankStreams* mine_ = nullptr;
};

}  // namespace

void Successors::pack(std::size_t tasks) {
    begin_.assign(tasks + 1, 0);
    for (const Edge& edge : edges_) ++begin_[edge.from + 1];
    for (std::size_t i = 0; i < tasks; ++i) begin_[i + 1] += begin_[i];
    targets_.resize(edges_.size());
    std::vector<std::int32_t> next(begin_.begin(), begin_.end() - 1);
    for (const Edge& edge : edges_) targets_[next[edge.from]++] = edge.to;
    edges_ = {};
}

TaskGraph build_task_graph(const Program& program, const CostModel& costs,
                           const SimulateOptions& options) {
    TaskGraph graph;
    std::size_t actions = 0;
    for (const ActionList& list : program.ranks) actions += list.size();
    graph.tasks.reserve(actions * options.steps);
    graph.task_of.resize(program.ranks.size());

    CostTable table(program, costs, graph);
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
