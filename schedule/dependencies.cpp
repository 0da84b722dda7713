#include "schedule/dependencies.h"

namespace debubble {

using Kind = Message::Kind;

std::optional<Message> neighbour_input_of(const Compute& c, int stage_count) {
    switch (c.pass) {
        case Pass::Forward:
            if (c.stage.index == 0) return std::nullopt;
            return Message{Kind::Activation, Stage{c.stage.index - 1}, c.micro_batch};
        case Pass::Backward:
        case Pass::BackwardInput:
            if (c.stage.index == stage_count - 1) return std::nullopt;
            return Message{Kind::Gradient, Stage{c.stage.index + 1}, c.micro_batch};
        case Pass::BackwardWeight: return std::nullopt;
    }
    return std::nullopt;
}

Inputs inputs_of(const Compute& c, int stage_count, int slices) {
    Inputs inputs;
    if (c.pass == Pass::BackwardWeight) {
        inputs.add({Kind::Gradient, c.stage, c.micro_batch});
        return inputs;
    }
    const bool forward = c.pass == Pass::Forward;
    if (const auto message = neighbour_input_of(c, stage_count)) inputs.add(*message);
    if (!forward) inputs.add({Kind::Activation, c.stage, c.micro_batch});
    if (c.micro_batch.slice) {
        const int neighbour = *c.micro_batch.slice + (forward ? -1 : 1);
        if (neighbour >= 0 && neighbour < slices) {
            const MicroBatch mb{c.micro_batch.index, static_cast<std::int16_t>(neighbour)};
            inputs.add({forward ? Kind::Activation : Kind::Gradient, c.stage, mb});
        }
    }
    return inputs;
}

Message ResultIndex::at(std::size_t index) const {
    const Kind kind = index < per_kind() ? Kind::Activation : Kind::Gradient;
    index %= per_kind();
    MicroBatch mb;
    if (slices_ > 1) mb.slice = static_cast<std::int16_t>(index % slices_);
    mb.index = static_cast<int>(index / slices_ % micro_batches_);
    return {kind, Stage{static_cast<int>(index / slices_ / micro_batches_)}, mb};
}

}  // namespace debubble
