#include "exec/core/stage/operator_call.h"

/// What multi-token prediction does beside norms, products, layers and the head: it joins two
/// values of each token, and takes a rank's own tokens.
namespace debubble::exec {

namespace {

/// One half of the columns of [Ts, 2 h], beside [Ts, h].
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

}  // namespace

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
