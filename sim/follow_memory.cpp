#include "sim/follow_memory.h"

#include <algorithm>
#include <map>

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

    bool allocates() const { return inside != nullptr || delta.count > 0; }
};

/// One rank's changes, collected from its list of actions.
class RankChanges {
public:
    RankChanges(const Program& program, const TaskGraph& graph, std::span<const TaskTimes> times,
                const CostModel& costs, Rank rank)
        : program_(program), graph_(graph), times_(times), costs_(costs), rank_(rank) {}

    std::vector<Change> collect() {
        const ActionList& list = program_.ranks[rank_.index];
        const std::vector<TaskId>& tasks = graph_.task_of[rank_.index];
        changes_.reserve(3 * list.size());
        for (std::size_t i = 0; i < list.size(); ++i) {
            task_ = tasks[i];
            action_ = &list[i];
            std::visit([&](const auto& action) { add(action); }, list[i]);
        }
        std::ranges::stable_sort(changes_, [](const Change& a, const Change& b) {
            return a.when != b.when ? a.when < b.when : a.allocates() < b.allocates();
        });
        return std::move(changes_);
    }

private:
    const TaskTimes& time() const { return times_[task_]; }
    const Flow& flow() const { return graph_.flows[graph_.tasks[task_].cost]; }

    void change(Instant when, Bytes delta, MemoryClass held_as) {
        if (delta.count != 0) changes_.push_back({when, delta, held_as, nullptr, action_});
    }
    void compute_runs() {
        const ComputeCost& cost = graph_.compute_costs[graph_.tasks[task_].cost];
        changes_.push_back({time().begin, {}, MemoryClass::Activations, &cost, action_});
        change(time().end, cost.held_after, MemoryClass::Activations);
        change(time().end, cost.gradients_after, MemoryClass::Gradients);
    }
    /// The input that a Recv brought becomes the compute's own.
    void takes_input(const Compute& c) {
        const auto arrived = arrived_.find({c.pass == Pass::Forward, c.stage, c.micro_batch});
        if (c.pass == Pass::BackwardWeight || arrived == arrived_.end()) return;
        change(time().begin, Bytes{-arrived->second.count}, MemoryClass::Activations);
        arrived_.erase(arrived);
    }

    void add(const Compute& c) {
        takes_input(c);
        compute_runs();
        produced_[{c.pass == Pass::Forward, c.stage, c.micro_batch}] = time().end;
        if (c.pass == Pass::Forward)
            saved_[c.stage] = graph_.compute_costs[graph_.tasks[task_].cost].held_after;
    }
    void add(const Overlap& o) {
        takes_input(o.first);
        takes_input(o.second);
        compute_runs();
        for (const Compute& c : {o.first, o.second})
            produced_[{c.pass == Pass::Forward, c.stage, c.micro_batch}] = time().end;
    }
    void add(const Recompute&) { compute_runs(); }
    void add(const OptimizerStep&) { compute_runs(); }
    void add(const Send& s) {
        const bool forward = s.message.kind == Message::Kind::Activation;
        const auto made = produced_.find({forward, s.message.producer, s.message.micro_batch});
        change(made == produced_.end() ? time().begin : made->second, flow().held,
               MemoryClass::Activations);
        change(time().end, Bytes{-flow().held.count}, MemoryClass::Activations);
    }
    void add(const Recv& r) {
        const bool forward = r.message.kind == Message::Kind::Activation;
        const Stage consumer{r.message.producer.index + (forward ? 1 : -1)};
        change(time().begin, flow().held, MemoryClass::Activations);
        arrived_[{forward, consumer, r.message.micro_batch}] = flow().held;
    }
    void add(const Unshard& u) {
        change(time().begin, costs_.unsharded_bytes(u.stage), MemoryClass::Parameters);
    }
    void add(const Reshard& r) {
        change(time().end, Bytes{-costs_.unsharded_bytes(r.stage).count}, MemoryClass::Parameters);
    }
    void add(const ReduceGrad&) {}
    void add(const TiedGradReduce&) {}
    void add(const GradNorm&) {}
    void add(const Offload& o) {
        change(time().end, Bytes{-saved_[o.stage].count}, MemoryClass::Activations);
    }
    void add(const Reload& r) { change(time().begin, saved_[r.stage], MemoryClass::Activations); }

    using Key = std::tuple<bool, Stage, MicroBatch>;  // forward?, stage, microbatch
    const Program& program_;
    const TaskGraph& graph_;
    std::span<const TaskTimes> times_;
    const CostModel& costs_;
    Rank rank_;
    TaskId task_ = kNoTask;
    const Action* action_ = nullptr;
    std::vector<Change> changes_;
    std::map<Key, Bytes> arrived_;
    std::map<Key, Instant> produced_;
    std::map<Stage, Bytes> saved_;
};

struct Peak {
    Bytes sum;
    MemoryPeak at;
    const Action* action = nullptr;
    std::string_view op;
};

/// Plays the changes in order of time.
MemoryPeak play(Rank rank, const std::vector<Change>& changes, MemoryByClass held,
                std::vector<MemorySample>* samples) {
    const auto sample = [&](Instant when, MemoryClass held_as, Bytes value) {
        if (samples != nullptr) samples->push_back({when, value, rank, held_as});
    };
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        sample(Instant{}, static_cast<MemoryClass>(c), held[c]);

    Peak peak{total(held), {Instant{}, held, "", ""}, nullptr, "static"};
    for (const Change& change : changes) {
        Bytes& level = held[at(change.held_as)];
        if (change.inside == nullptr) {
            level += change.delta;
            sample(change.when, change.held_as, level);
        } else {
            sample(change.when, change.held_as, level + change.inside->peak_above);
        }
        const Bytes above = change.inside ? change.inside->peak_above : Bytes{};
        const Bytes sum = total(held) + above;
        if (sum <= peak.sum) continue;
        peak = {sum, {change.when, held, "", ""}, change.action, ""};
        if (change.inside == nullptr) continue;
        peak.op = change.inside->op_at_peak;
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            peak.at.held[c] += change.inside->at_peak[c];
    }
    if (peak.action != nullptr) peak.at.action = to_text(*peak.action);
    peak.at.op = peak.op;
    return peak.at;
}

}  // namespace

FollowedMemory follow_memory(const Program& program, const TaskGraph& graph,
                             std::span<const TaskTimes> times, const CostModel& costs,
                             bool keep_samples) {
    FollowedMemory followed;
    for (int r = 0; r < program.shape.ranks; ++r) {
        const Rank rank{r};
        const auto changes = RankChanges(program, graph, times, costs, rank).collect();
        followed.peaks.push_back(play(rank, changes, costs.static_memory(rank),
                                      keep_samples ? &followed.samples : nullptr));
    }
    return followed;
}

}  // namespace debubble::sim
