#include "sim/memory/memory_events.h"

#include <utility>

#include "sim/memory/local_stages.h"

namespace debubble::sim {
namespace {

using Edge = Moment::Edge;

class EventWriter {
public:
    EventWriter(const Program& program, const PlacementIndex& index, Rank rank,
                const MemoryModel& memory, std::vector<MemoryEvent> storage)
        : program_(program),
          memory_(memory),
          rank_(rank),
          local_(index, rank),
          of_stage_(program.placement.stages_of(rank).size()),
          messages_(2 * of_stage_.size() * program.shape.micro_batches * program.shape.slices),
          gradients_(memory.gradients_in_backward(rank)),
          stages_(index.stage_count()),
          keeps_messages_(memory.keeps_messages() && program.shape.slices == 1 &&
                          !index.has_several_holders()),
          events_(std::move(storage)) {
        events_.clear();
    }

    std::vector<MemoryEvent> write() {
        const ActionList& list = program_.ranks[rank_.index];
        events_.reserve(3 * list.size());
        if (keeps_messages_) allocate_buffers();
        for (action_ = 0; action_ < list.size(); ++action_)
            std::visit([&](const auto& action) { add(action); }, list[action_]);
        release_sent();
        release_copied();
        return std::move(events_);
    }

private:
    /// Index of an event.
    using Index = std::uint32_t;

    /// The messages that a stage of this rank receives and makes, for one microbatch in one
    /// direction.
    struct AtStage {
        std::optional<Index> arrived;
        std::optional<Index> sent;  ///< where outputs stay for their backward
        Index made_by = 0;          ///< index of the action
    };
    struct OfStage {
        std::optional<Index> gathered;
        std::vector<Index> unreduced;
        std::optional<Moment> reduced;  ///< end of the latest ReduceGrad
    };

    Moment begins() const { return {action_, Edge::Begin}; }
    Moment ends() const { return {action_, Edge::End}; }

    template <class What>
    Index event(What what) {
        events_.emplace_back(action_, what);
        return static_cast<Index>(events_.size() - 1);
    }
    std::optional<Index> allocate(Moment at, Held held, MemoryClass held_as, Bytes bytes) {
        if (bytes.count == 0) return std::nullopt;
        return event(Allocation{at, held, held_as, bytes});
    }
    void release(Moment at, std::optional<Index>& allocation) {
        if (allocation) event(Release{at, std::nullopt, *allocation});
        allocation.reset();
    }

    void add(const Compute& c) { compute(c); }
    void add(const Overlap& o) {
        compute(o.first);
        compute(o.second);
    }
    void add(const Recompute& r) { event(PassRuns{{Pass::Forward, r.stage, r.micro_batch}, true}); }
    void compute(const Compute& c) {
        take_input(c);
        if (c.pass != Pass::Forward) release_unreduced(of_stage(c.stage));
        event(PassRuns{c});
        if (c.pass != Pass::Forward) leave_unreduced(c);
        release_sent();
        release_copied();
        if (c.pass == Pass::Backward || c.pass == Pass::BackwardInput) return_buffers(c);
        if (c.pass != Pass::Backward && c.pass != Pass::BackwardWeight) return;
        allocate(ends(), Held::Gradients, MemoryClass::Gradients,
                 std::exchange(gradients_, Bytes{}));
    }
    /// The input that a Recv brought becomes part of the pass's memory.
    void take_input(const Compute& c) {
        if (c.pass == Pass::BackwardWeight) return;
        AtStage& message = at_stage(c.pass == Pass::Forward, c.stage, c.micro_batch);
        release(begins(), message.arrived);
        message.made_by = action_;
    }
    /// The buffers of all messages that the rank's stages receive (MemoryModel::keeps_messages).
    void allocate_buffers() {
        for (const Stage stage : program_.placement.stages_of(rank_))
            for (MicroBatch mb{0, {}}; mb.index < program_.shape.micro_batches; ++mb.index)
                buffer(stage, mb, begins());
    }
    void buffer(Stage stage, MicroBatch mb, Moment at) {
        const auto of = [&](Message::Kind kind, Stage producer) {
            if (producer.index < 0 || producer.index >= stages_) return;
            std::optional<Index>& there =
                at_stage(kind == Message::Kind::Activation, stage, mb).arrived;
            if (!there)
                there = allocate(at, Held::Received, MemoryClass::Buffers,
                                 memory_.message({kind, producer, mb}));
        };
        of(Message::Kind::Activation, Stage{stage.index - 1});
        of(Message::Kind::Gradient, Stage{stage.index + 1});
    }
    /// The tensors of the microbatch's messages are buffers again, and its output is dropped.
    void return_buffers(const Compute& c) {
        release(ends(), at_stage(true, c.stage, c.micro_batch).sent);
        if (keeps_messages_) buffer(c.stage, c.micro_batch, ends());
    }
    void leave_unreduced(const Compute& c) {
        const MemoryByClass left = memory_.left_unreduced(c);
        for (std::size_t k = 0; k < kMemoryClasses; ++k)
            if (const auto there =
                    allocate(ends(), Held::Unreduced, static_cast<MemoryClass>(k), left[k]))
                of_stage(c.stage).unreduced.push_back(*there);
    }
    /// Releases them no earlier than the reduction ends, and when their memory is needed.
    void release_unreduced(OfStage& stage) {
        for (const Index allocation : stage.unreduced)
            event(Release{begins(), stage.reduced, allocation});
        stage.unreduced.clear();
    }
    void add(const OptimizerStep&) {
        for (OfStage& stage : of_stage_) release_unreduced(stage);
        event(OptimizerRuns{});
    }
    void add(const ReduceGrad& r) { of_stage(r.stage).reduced = ends(); }

    void add(const Send& s) {
        const bool forward = s.message.kind == Message::Kind::Activation;
        const Message& m = s.message;
        const Moment made{at_stage(forward, m.producer, m.micro_batch).made_by, Edge::End};
        const auto sent =
            allocate(made, Held::Sent, MemoryClass::Activations, memory_.message(s.message));
        if (forward && keeps_messages_)
            at_stage(true, m.producer, m.micro_batch).sent = sent;
        else if (sent)
            sent_.push_back({action_, Release{ends(), std::nullopt, *sent}});
    }
    void add(const Recv& r) {
        const bool forward = r.message.kind == Message::Kind::Activation;
        const Stage consumer{r.message.producer.index + (forward ? 1 : -1)};
        std::optional<Index>& arrived = at_stage(forward, consumer, r.message.micro_batch).arrived;
        if (arrived) return;  // in a buffer that was there
        arrived = allocate(begins(), Held::Received, MemoryClass::Activations,
                           memory_.message(r.message));
    }
    void release_sent() {
        events_.insert(events_.end(), sent_.begin(), sent_.end());
        sent_.clear();
    }

    void add(const Unshard& u) {
        of_stage(u.stage).gathered = allocate(begins(), Held::Gathered, MemoryClass::Parameters,
                                              memory_.unsharded_bytes(u.stage));
    }
    void add(const Reshard& r) { release(ends(), of_stage(r.stage).gathered); }

    void add(const Offload& o) {
        copied_.push_back({action_, SavedLeaves{{Pass::Forward, o.stage, o.micro_batch}}});
    }
    void add(const Reload& r) {
        release_copied();
        event(SavedReturns{{Pass::Forward, r.stage, r.micro_batch}});
    }
    void release_copied() {
        events_.insert(events_.end(), copied_.begin(), copied_.end());
        copied_.clear();
    }
    void add(const TiedGradReduce&) {}
    void add(const GradNorm&) {}

    AtStage& at_stage(bool forward, Stage stage, MicroBatch mb) {
        const PipelineShape& shape = program_.shape;
        const std::size_t row = local_.index_of(stage) * shape.micro_batches + mb.index;
        return messages_[2 * (row * shape.slices + mb.slice.value_or(0)) + forward];
    }
    OfStage& of_stage(Stage stage) { return of_stage_[local_.index_of(stage)]; }

    const Program& program_;
    const MemoryModel& memory_;
    Rank rank_;
    LocalStages local_;
    std::vector<OfStage> of_stage_;
    std::vector<AtStage> messages_;
    Bytes gradients_;  ///< bytes that no backward has made yet
    int stages_;       ///< of the pipeline
    bool keeps_messages_;
    std::vector<MemoryEvent> sent_;    ///< buffers sent by transfers that have begun
    std::vector<MemoryEvent> copied_;  ///< tensors leaving by copies that have begun
    std::vector<MemoryEvent> events_;
    std::uint32_t action_ = 0;
};

}  // namespace

std::vector<MemoryEvent> memory_events(const Program& program, const PlacementIndex& index,
                                       Rank rank, const MemoryModel& memory,
                                       std::vector<MemoryEvent> storage) {
    return EventWriter(program, index, rank, memory, std::move(storage)).write();
}

}  // namespace debubble::sim
