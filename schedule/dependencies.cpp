#include "schedule/dependencies.h"

namespace debubble {

std::optional<Message> neighbour_input_of(const Compute& c, int stage_count) {
    if (c.pass == Pass::BackwardWeight) return std::nullopt;
    const bool forward = c.pass == Pass::Forward;
    const int neighbour = c.stage.index + (forward ? -1 : 1);
    if (neighbour < 0 || neighbour == stage_count) return std::nullopt;
    return Message{forward ? Message::Kind::Activation : Message::Kind::Gradient, Stage{neighbour},
                   c.micro_batch};
}

Inputs inputs_of(const Compute& c, int stage_count, int slices) {
    Inputs inputs;
    if (c.pass == Pass::BackwardWeight) {
        inputs.add({Message::Kind::Gradient, c.stage, c.micro_batch});
        return inputs;
    }
    const bool forward = c.pass == Pass::Forward;
    if (const auto message = neighbour_input_of(c, stage_count)) inputs.add(*message);
    if (!forward) inputs.add({Message::Kind::Activation, c.stage, c.micro_batch});
    if (c.micro_batch.slice) {
        const int neighbour = *c.micro_batch.slice + (forward ? -1 : 1);
        if (neighbour >= 0 && neighbour < slices) {
            const MicroBatch mb{c.micro_batch.index, static_cast<std::int16_t>(neighbour)};
            inputs.add(
                {forward ? Message::Kind::Activation : Message::Kind::Gradient, c.stage, mb});
        }
    }
    return inputs;
}

bool reduction_follows(const ActionList& list, std::size_t position, const Compute& compute) {
    if (compute.pass == Pass::Forward || compute.pass == Pass::BackwardInput) return false;
    bool seen = false;  // the compute itself was seen
    for (std::size_t i = position; i < list.size(); ++i) {
        if (list[i] == Action{ReduceGrad{compute.stage}}) return true;
        bool adds = false;
        for_each_compute(list[i], [&](const Compute& c) {
            if (c == compute)
                seen = true;
            else if (seen)
                adds |= c.stage == compute.stage && c.pass != Pass::Forward;
        });
        if (adds) return false;
    }
    return false;
}

Message ResultIndex::at(std::size_t index) const {
    const Message::Kind kind =
        index < per_kind() ? Message::Kind::Activation : Message::Kind::Gradient;
    index %= per_kind();
    MicroBatch mb;
    if (slices_ > 1) mb.slice = static_cast<std::int16_t>(index % slices_);
    mb.index = static_cast<int>(index / slices_ % micro_batches_);
    return {kind, Stage{static_cast<int>(index / slices_ / micro_batches_)}, mb};
}

Owners::Owners(const Schedule& schedule) : index_(schedule), rank_(index_.size()) {
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r)
        for (const Action& action : schedule.ranks[r])
            for_each_compute(action, [&](const Compute& c) {
                const auto result = result_of(c);
                if (!result || !index_.contains(*result)) return;
                std::optional<Rank>& rank = rank_[index_.of(*result)];
                if (!rank) rank = Rank{static_cast<int>(r)};
            });
}

std::optional<Rank> Owners::producer_of(const Message& message) const {
    if (!index_.contains(message)) return std::nullopt;
    return rank_[index_.of(message)];
}

std::optional<Rank> Owners::consumer_of(const Message& message) const {
    return producer_of({message.kind, debubble::consumer_of(message), message.micro_batch});
}

}  // namespace debubble
