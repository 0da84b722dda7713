#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <optional>
#include <span>

#include "schedule/schedule.h"

/// The data flow of a pipeline: the results that each compute needs. Replay, validation and the
/// placement of sends and receives all read it from here.
///
///   F(s)   needs F(s-1), and F(s) of the slice before it (keys and values)
///   I, B   need F(s), I or B of s+1, and I or B of the slice after it (dK, dV)
///   W      needs I of its own stage
namespace debubble {

/// The result that a compute leaves for others: an activation (F) or a gradient (I, B). W leaves
/// none. The message crosses a link only if its consumer is on another rank.
inline std::optional<Message> result_of(const Compute& c) {
    if (c.pass == Pass::BackwardWeight) return std::nullopt;
    const auto kind = c.pass == Pass::Forward ? Message::Kind::Activation : Message::Kind::Gradient;
    return Message{kind, c.stage, c.micro_batch};
}

/// The results that a compute needs; at most three.
class Inputs {
public:
    void add(const Message& message) { messages_[count_++] = message; }
    const Message* begin() const { return messages_.data(); }
    const Message* end() const { return messages_.data() + count_; }

private:
    std::array<Message, 3> messages_;
    std::size_t count_ = 0;
};

/// The result of the neighbouring stage that `c` needs, which a Recv delivers if another rank
/// computes it. None at the ends of the pipeline, and for W.
std::optional<Message> neighbour_input_of(const Compute& c, int stage_count);

Inputs inputs_of(const Compute& c, int stage_count, int slices);

/// The stage that consumes a message: the next one of an activation, the previous one of a
/// gradient. It may lie outside the pipeline (-1 or S).
inline Stage consumer_of(const Message& m) {
    return Stage{m.producer.index + (m.kind == Message::Kind::Activation ? 1 : -1)};
}

/// True if the compute that is, or is part of, the action at `position` is the last one that adds
/// to its stage's gradients before they are reduced (ReduceGrad). False for a pass that adds
/// nothing.
bool reduction_follows(const ActionList& list, std::size_t position, const Compute& compute);

/// Numbers every result of a schedule, and thus also every forward and backward, from 0: the index
/// of flat arrays.
class ResultIndex {
public:
    explicit ResultIndex(const Schedule& schedule)
        : stages_(schedule.stage_count()),
          micro_batches_(schedule.shape.micro_batches),
          slices_(schedule.shape.slices) {}

    std::size_t size() const { return 2 * per_kind(); }
    int stage_count() const { return stages_; }
    int slices() const { return slices_; }

    /// False for a stage, microbatch or slice that the shape does not have.
    bool contains(Stage stage, const MicroBatch& mb) const {
        return stage.index >= 0 && stage.index < stages_ && mb.index >= 0 &&
               mb.index < micro_batches_ && mb.slice.has_value() == (slices_ > 1) &&
               mb.slice.value_or(0) >= 0 && mb.slice.value_or(0) < slices_;
    }
    bool contains(const Compute& c) const { return contains(c.stage, c.micro_batch); }
    bool contains(const Message& m) const { return contains(m.producer, m.micro_batch); }

    /// Index of a (stage, microbatch, slice): less than size() / 2.
    std::size_t of(Stage stage, const MicroBatch& mb) const {
        assert(contains(stage, mb) && "the index covers exactly the shape");
        const auto row = static_cast<std::size_t>(stage.index) * micro_batches_ + mb.index;
        return row * slices_ + mb.slice.value_or(0);
    }
    std::size_t of(const Message& m) const {
        return of(m.producer, m.micro_batch) +
               (m.kind == Message::Kind::Activation ? 0 : per_kind());
    }
    Message at(std::size_t index) const;

private:
    std::size_t per_kind() const {
        return static_cast<std::size_t>(stages_) * micro_batches_ * slices_;
    }
    int stages_;
    int micro_batches_;
    int slices_;
};

/// The rank that computes each result. Where a stage has several holders, each microbatch has one,
/// which sends and receives its messages.
class Owners {
public:
    /// Ignores computes outside the shape. Of several equal ones the first counts.
    explicit Owners(const Schedule& schedule);

    /// The rank whose F (or I, B) makes the message; nothing if there is none.
    std::optional<Rank> producer_of(const Message& message) const;
    /// The rank whose F (or I, B) consumes the message; nothing if there is none.
    std::optional<Rank> consumer_of(const Message& message) const;

private:
    ResultIndex index_;
    std::vector<std::optional<Rank>> rank_;  ///< by result
};

}  // namespace debubble
