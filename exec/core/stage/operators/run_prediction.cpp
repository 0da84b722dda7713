#include "exec/core/stage/operators/operator_call.h"

/// The operators of multi-token prediction other than norms, GEMMs, layers and the head:
/// concatenation of two vectors of each token, selection of a rank's own tokens, and stacks of
/// streams for another stage.
namespace debubble::exec {

namespace {

/// Moves [Ts, h] to or from one half of the columns of [Ts, 2 h].
struct HalfColumns {
    const OperatorCall& call;
    int joined;  ///< index of the tensor with both halves

    TensorView half(int which) const {
        const std::int64_t hidden = call.model().hidden;
        const TensorView all = call.tensor(joined, {call.stream_tokens(), 2 * hidden});
        return {all.data + which * hidden * size_of(all.type), {1, hidden}, all.type};
    }
    Blocks blocks(std::int64_t from_stride, std::int64_t to_stride) const {
        return {call.stream_tokens(), 1, call.model().hidden, from_stride, to_stride};
    }
    void put(int which, int alone) const {
        const std::int64_t hidden = call.model().hidden;
        call.kernels().copy_blocks(blocks(hidden, 2 * hidden), call.stream(alone), half(which));
    }
    void take(int which, int alone) const {
        const std::int64_t hidden = call.model().hidden;
        call.kernels().copy_blocks(blocks(2 * hidden, hidden), half(which), call.stream(alone));
    }
};

/// Streams that are rows of one tensor.
struct StackedStreams {
    const OperatorCall& call;
    int stacked;  ///< index of the tensor with all of them
    std::size_t count;

    TensorView part(std::size_t which) const {
        const auto all = static_cast<std::int64_t>(count);
        const std::int64_t rows = call.stream_tokens();
        return rows_from(call.tensor(stacked, {all * rows, call.model().hidden}),
                         static_cast<std::int64_t>(which) * rows, rows);
    }
    void put(std::size_t which, int alone) const {
        call.kernels().copy(call.stream(alone), part(which));
    }
    void take(std::size_t which, int alone) const {
        call.kernels().copy(part(which), call.stream(alone));
    }
};

}  // namespace

void forward(const OperatorCall& call, const op::StackStreams& roles) {
    const StackedStreams streams{call, roles.all.tensor, roles.parts.size()};
    for (std::size_t i = 0; i < roles.parts.size(); ++i) streams.put(i, roles.parts[i].tensor);
}

void backward_input(const OperatorCall& call, const op::StackStreams& roles) {
    const StackedStreams streams{call, roles.all.gradient, roles.parts.size()};
    for (std::size_t i = 0; i < roles.parts.size(); ++i) streams.take(i, roles.parts[i].gradient);
}

void forward(const OperatorCall& call, const op::SplitStreams& roles) {
    const StackedStreams streams{call, roles.all.tensor, roles.parts.size()};
    for (std::size_t i = 0; i < roles.parts.size(); ++i) streams.take(i, roles.parts[i].tensor);
}

void backward_input(const OperatorCall& call, const op::SplitStreams& roles) {
    const StackedStreams streams{call, roles.all.gradient, roles.parts.size()};
    for (std::size_t i = 0; i < roles.parts.size(); ++i) streams.put(i, roles.parts[i].gradient);
}

void forward(const OperatorCall& call, const op::Concat& roles) {
    const HalfColumns columns{call, roles.y.tensor};
    columns.put(0, roles.a.tensor);
    columns.put(1, roles.b.tensor);
}

void backward_input(const OperatorCall& call, const op::Concat& roles) {
    const HalfColumns columns{call, roles.y.gradient};
    columns.take(0, roles.a.gradient);
    columns.take(1, roles.b.gradient);
}

void forward(const OperatorCall& call, const op::ScatterTokens& roles) {
    const std::int64_t own = call.stream_tokens();
    const TensorView all = call.tensor(roles.x.tensor, {call.tokens(), call.model().hidden});
    call.kernels().copy(rows_from(all, call.tensor_rank() * own, own), call.stream(roles.y.tensor));
}

void backward_input(const OperatorCall& call, const op::ScatterTokens& roles) {
    call.all_gather(call.stream(roles.y.gradient),
                    call.tensor(roles.x.gradient, {call.tokens(), call.model().hidden}));
}

}  // namespace debubble::exec
