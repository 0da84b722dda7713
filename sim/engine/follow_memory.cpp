#include "sim/engine/follow_memory.h"

#include <algorithm>
#include <cstdint>

namespace debubble::sim {
namespace {

std::size_t at(MemoryClass memory_class) {
    return static_cast<std::size_t>(memory_class);
}

/// A change of what a rank holds. At one instant frees come before allocations.
struct Change {
    Instant when;
    Bytes delta;
    MemoryClass held_as{};
    const ComputeCost* inside = nullptr;  ///< a compute that begins here
    const Action* action = nullptr;
    bool quiet = false;  ///< a message's buffer: shown with the next change that is not
    const ComputeCost* behind = nullptr;  ///< a compute that ends here
    bool at_once = false;                 ///< it has begun at the same instant

    /// What a compute leaves is no more than it held.
    bool allocates() const {
        return behind != nullptr ? at_once : inside != nullptr || delta.count > 0;
    }
};

/// What changes are sorted by: a change is three times as long. No two are equal.
struct ChangeKey {
    Instant when;
    bool allocates;
    std::uint32_t index;  ///< as they were collected

    friend bool operator<(const ChangeKey& a, const ChangeKey& b) {
        if (a.when != b.when) return a.when < b.when;
        return a.allocates != b.allocates ? b.allocates : a.index < b.index;
    }
};

std::vector<ChangeKey> in_order_of_time(const std::vector<Change>& changes) {
    std::vector<ChangeKey> keys;
    keys.reserve(changes.size());
    for (const Change& change : changes)
        keys.push_back({change.when, change.allocates(), static_cast<std::uint32_t>(keys.size())});
    std::sort(keys.begin(), keys.end());
    return keys;
}

/// One rank's changes, collected from its list of actions.
class RankChanges {
public:
    RankChanges(const Program& program, const TaskGraph& graph, std::span<const TaskTimes> times,
                const CostModel& costs, const PlacementIndex& index, Rank rank)
        : program_(program),
          graph_(graph),
          times_(times),
          costs_(costs),
          index_(index),
          rank_(rank) {
        const std::size_t stages = program.placement.stages_of(rank).size();
        const PipelineShape& shape = program.shape;
        messages_.resize(2 * stages * shape.micro_batches * shape.slices);
        saved_.resize(stages);
        left_.resize(stages);
    }

    std::vector<Change> collect() {
        const ActionList& list = program_.ranks[rank_.index];
        const std::vector<ActionTasks>& tasks = graph_.tasks_of[rank_.index];
        changes_.reserve(3 * list.size());
        for (std::size_t i = 0; i < list.size(); ++i) {
            time_ = {times_[tasks[i].first].begin, times_[tasks[i].last].end};
            task_ = tasks[i].first;
            action_ = &list[i];
            std::visit([&](const auto& action) { add(action); }, list[i]);
        }
        return std::move(changes_);
    }

private:
    const TaskTimes& time() const { return time_; }
    const Flow& flow() const { return graph_.flows[graph_.tasks[task_].cost]; }

    void change(Instant when, Bytes delta, MemoryClass held_as) {
        if (delta.count != 0) changes_.push_back({when, delta, held_as, nullptr, action_});
    }
    void buffer(Instant when, Bytes delta) {
        change(when, delta, MemoryClass::Activations);
        if (delta.count != 0) changes_.back().quiet = true;
    }
    void compute_runs() {
        const ComputeCost& cost = graph_.compute_costs[graph_.tasks[task_].cost];
        changes_.push_back({time().begin, {}, MemoryClass::Activations, &cost, action_});
        changes_.push_back({time().end, cost.held_after, MemoryClass::Activations, nullptr, action_,
                            false, &cost, time().end == time().begin});
    }
    void change(Instant when, const MemoryByClass& held, int times) {
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            change(when, Bytes{times * held[c].count}, static_cast<MemoryClass>(c));
    }
    void leaves_gradients(const Compute& c) {
        if (c.pass == Pass::Forward) return;
        const MemoryByClass left = costs_.left_unreduced(c);
        Unreduced& waits = left_[local(c.stage)];
        change(std::max(time().begin, waits.reduced), waits.held, -1);
        change(time().end, left, 1);
        waits.held = left;
    }
    void bears_gradients(const Compute& c) {
        leaves_gradients(c);
        if (c.pass != Pass::Backward && c.pass != Pass::BackwardWeight) return;
        if (!born_) change(time().end, costs_.gradients_in_backward(rank_), MemoryClass::Gradients);
        born_ = true;
    }
    /// The input that a Recv brought becomes the compute's own.
    void takes_input(const Compute& c) {
        if (c.pass == Pass::BackwardWeight) return;
        AtStage& message = at_stage(c.pass == Pass::Forward, c.stage, c.micro_batch);
        buffer(time().begin, Bytes{-message.arrived.count});
        message.made = time().end;
    }

    void add(const Compute& c) {
        takes_input(c);
        compute_runs();
        bears_gradients(c);
        if (c.pass != Pass::Forward) return;
        const ComputeCost& cost = graph_.compute_costs[graph_.tasks[task_].cost];
        saved(c.stage) = cost.held_after - cost.stays;
    }
    void add(const Overlap& o) {
        takes_input(o.first);
        takes_input(o.second);
        compute_runs();
        bears_gradients(o.first);
        bears_gradients(o.second);
    }
    void add(const Recompute&) { compute_runs(); }
    void add(const OptimizerStep&) {
        for (Unreduced& waits : left_) {
            change(std::max(time().begin, waits.reduced), waits.held, -1);
            waits = {};
        }
        compute_runs();
    }
    void add(const Send& s) {
        const bool forward = s.message.kind == Message::Kind::Activation;
        const Message& m = s.message;
        buffer(at_stage(forward, m.producer, m.micro_batch).made, flow().held);
        buffer(time().end, Bytes{-flow().held.count});
    }
    void add(const Recv& r) {
        const bool forward = r.message.kind == Message::Kind::Activation;
        const Stage consumer{r.message.producer.index + (forward ? 1 : -1)};
        buffer(time().begin, flow().held);
        at_stage(forward, consumer, r.message.micro_batch).arrived = flow().held;
    }
    void add(const Unshard& u) {
        change(time().begin, costs_.unsharded_bytes(u.stage), MemoryClass::Parameters);
    }
    void add(const Reshard& r) {
        change(time().end, Bytes{-costs_.unsharded_bytes(r.stage).count}, MemoryClass::Parameters);
    }
    void add(const ReduceGrad& r) { left_[local(r.stage)].reduced = time().end; }
    void add(const TiedGradReduce&) {}
    void add(const GradNorm&) {}
    void add(const Offload& o) {
        change(time().end, Bytes{-saved(o.stage).count}, MemoryClass::Activations);
    }
    void add(const Reload& r) { change(time().begin, saved(r.stage), MemoryClass::Activations); }

    /// What a stage of this rank is sent, and makes, for one microbatch in one direction.
    struct AtStage {
        Bytes arrived;
        Instant made;
    };
    AtStage& at_stage(bool forward, Stage stage, MicroBatch mb) {
        const PipelineShape& shape = program_.shape;
        const std::size_t row = local(stage) * shape.micro_batches + mb.index;
        return messages_[2 * (row * shape.slices + mb.slice.value_or(0)) + forward];
    }
    /// Gradients that wait for their reduction: no shorter than it takes, and until what they lie
    /// in is wanted.
    struct Unreduced {
        MemoryByClass held{};
        Instant reduced{};
    };
    Bytes& saved(Stage stage) { return saved_[local(stage)]; }
    /// Index of a stage among those of this rank.
    std::size_t local(Stage stage) const {
        return index_.entry_of(rank_, stage) - index_.first_of(rank_);
    }

    const Program& program_;
    const TaskGraph& graph_;
    std::span<const TaskTimes> times_;
    const CostModel& costs_;
    const PlacementIndex& index_;
    Rank rank_;
    bool born_ = false;      ///< the gradients are there
    TaskId task_ = kNoTask;  ///< the action's first, which has its cost
    TaskTimes time_{};
    const Action* action_ = nullptr;
    std::vector<Change> changes_;
    std::vector<AtStage> messages_;
    std::vector<Bytes> saved_;     ///< by a forward, per stage of this rank
    std::vector<Unreduced> left_;  ///< likewise
};

/// Plays changes in order of time.
class Player {
public:
    Player(Rank rank, const MemoryByClass& held, std::vector<MemorySample>* samples)
        : rank_(rank), held_(held), samples_(samples), peak_{Instant{}, held, "", "static"} {
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            sample(Instant{}, static_cast<MemoryClass>(c), held[c]);
    }

    MemoryPeak play(const std::vector<Change>& changes) {
        peak_sum_ = total(held_);
        for (const ChangeKey& key : in_order_of_time(changes)) apply(changes[key.index]);
        if (peak_action_ != nullptr) peak_.action = to_text(*peak_action_);
        return peak_;
    }

private:
    void apply(const Change& change) {
        held_[at(change.held_as)] += change.delta;
        if (change.inside != nullptr) inside_ = change.inside;
        if (change.behind != nullptr) inside_ = nullptr;
        if (change.quiet) unseen_ = true;
        if (!change.quiet) show(change);
        // The instant at which a message sets out says little of when its buffer is asked for.
        const ComputeCost* beside = change.quiet ? nullptr : inside_;
        const Bytes sum = total(held_) + (beside != nullptr ? beside->peak_above : Bytes{});
        if (sum <= peak_sum_) return;
        peak_sum_ = sum;
        peak_ = {change.when, held_, "", ""};
        peak_action_ = change.action;
        if (beside == nullptr) return;
        peak_.op = beside->op_at_peak;
        for (std::size_t c = 0; c < kMemoryClasses; ++c) peak_.held[c] += beside->at_peak[c];
    }
    /// A compute shows what there is when it holds most, and goes back to what it leaves.
    void show(const Change& change) {
        const ComputeCost* of = change.inside != nullptr ? change.inside : change.behind;
        for (std::size_t c = 0; c < kMemoryClasses; ++c) {
            const bool changes = c == at(change.held_as) ||
                                 (of != nullptr && of->at_peak[c].count != 0) ||
                                 (unseen_ && c == at(MemoryClass::Activations));
            if (!changes) continue;
            const Bytes more = inside_ != nullptr ? inside_->at_peak[c] : Bytes{};
            sample(change.when, static_cast<MemoryClass>(c), held_[c] + more);
        }
        unseen_ = false;
    }
    void sample(Instant when, MemoryClass held_as, Bytes value) {
        if (samples_ == nullptr) return;
        const bool same_instant = !samples_->empty() && samples_->back().rank == rank_ &&
                                  samples_->back().at == when &&
                                  samples_->back().held_as == held_as;
        if (same_instant)
            samples_->back().held = value;
        else
            samples_->push_back({when, value, rank_, held_as});
    }

    Rank rank_;
    MemoryByClass held_;
    std::vector<MemorySample>* samples_;
    MemoryPeak peak_;
    Bytes peak_sum_;
    const ComputeCost* inside_ = nullptr;  ///< the compute that runs
    bool unseen_ = false;                  ///< buffers of messages have changed
    const Action* peak_action_ = nullptr;
};

}  // namespace

FollowedMemory follow_memory(const Program& program, const TaskGraph& graph,
                             std::span<const TaskTimes> times, const CostModel& costs,
                             bool keep_samples) {
    FollowedMemory followed;
    const PlacementIndex index(program.placement);
    for (int r = 0; r < program.shape.ranks; ++r) {
        const Rank rank{r};
        const auto changes = RankChanges(program, graph, times, costs, index, rank).collect();
        Player player(rank, costs.static_memory(rank), keep_samples ? &followed.samples : nullptr);
        followed.peaks.push_back(player.play(changes));
    }
    return followed;
}

}  // namespace debubble::sim
