#pragma once

#include <utility>
#include <vector>

#include "schedule/schedule.h"
#include "sim/engine/task_graph.h"

namespace debubble::sim {

/// The latest task of a stage on one rank, by its effect.
struct StageTasks {
    ActionTasks compute;
    ActionTasks backward;  ///< passes that made gradients of weights
    TaskId reduced = kNoTask;
    TaskId unshard = kNoTask;
    TaskId gathered = kNoTask;  ///< end of the gathers during the step's first compute
    int reductions = 0;         ///< number of ReduceGrads of this step so far
};

/// The latest task of every stream of one rank.
struct RankStreams {
    const PlacementIndex* index = nullptr;
    Rank rank;
    ActionTasks compute;
    TaskId gather = kNoTask;   ///< Unshard
    TaskId reduce = kNoTask;   ///< ReduceGrad, TiedGradReduce, GradNorm
    TaskId reshard = kNoTask;  ///< Reshard of any stage, whose memory the next Unshard takes
    TaskId copy = kNoTask;     ///< Offload, Reload
    TaskId optimizer = kNoTask;
    std::vector<TaskId> open;  ///< sends and copies since the last compute, as far as they block
    std::vector<StageTasks> stages;  ///< those of the stages that the rank holds
    struct Channel {
        Rank to;
        Message::Kind kind{};
        TaskId last = kNoTask;
    };
    std::vector<Channel> channels;                ///< channels on which this rank sends
    std::vector<std::pair<Rank, TaskId>> shared;  ///< streams of messages, by peer

    StageTasks& of(Stage stage) {
        return stages[index->entry_of(rank, stage) - index->first_of(rank)];
    }
    TaskId& channel(Rank to, Message::Kind kind) {
        for (Channel& c : channels)
            if (c.to == to && c.kind == kind) return c.last;
        return channels.emplace_back(Channel{to, kind, kNoTask}).last;
    }
    TaskId& stream_with(Rank peer) {
        for (auto& [known, last] : shared)
            if (known == peer) return last;
        return shared.emplace_back(peer, kNoTask).second;
    }
};

/// Finds the tasks of one step by the results that they make. Flat tables over kind, stage,
/// microbatch and slice.
class MessageIndex {
public:
    explicit MessageIndex(const Program& program)
        : micro_batches_(program.shape.micro_batches),
          slices_(program.shape.slices),
          stages_(program.stage_count()),
          producers_(2 * keys(), kNoTask),
          transfers_(2 * keys(), kNoTask),
          reloads_(keys(), kNoTask) {}

    /// The compute that makes the message; F makes its stage's activation, B and I the gradient.
    TaskId& producer(const Message& m) { return producers_[key(m)]; }
    TaskId& transfer(const Message& m) { return transfers_[key(m)]; }
    TaskId& reload(Stage stage, MicroBatch mb) { return reloads_[key(stage, mb)]; }

    /// The transfer that brings the input of `c`, or kNoTask if it is made on the same rank.
    TaskId incoming(const Compute& c) const {
        const bool forward = c.pass == Pass::Forward;
        const Stage from{c.stage.index + (forward ? -1 : 1)};
        if (c.pass == Pass::BackwardWeight || from.index < 0 || from.index >= stages_)
            return kNoTask;
        return transfers_[key(
            {forward ? Message::Kind::Activation : Message::Kind::Gradient, from, c.micro_batch})];
    }

private:
    std::size_t keys() const {
        return static_cast<std::size_t>(stages_) * micro_batches_ * slices_;
    }
    std::size_t key(Stage stage, MicroBatch mb) const {
        const auto row = static_cast<std::size_t>(stage.index) * micro_batches_ + mb.index;
        return row * slices_ + mb.slice.value_or(0);
    }
    std::size_t key(const Message& m) const {
        return key(m.producer, m.micro_batch) + (m.kind == Message::Kind::Gradient ? keys() : 0);
    }

    int micro_batches_;
    int slices_;
    int stages_;
    std::vector<TaskId> producers_;
    std::vector<TaskId> transfers_;
    std::vector<TaskId> reloads_;
};

}  // namespace debubble::sim
