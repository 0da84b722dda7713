#include <algorithm>

#include "exec/core/stage/operators/linear_call.h"

/// The loss is computed in the memory of the logits, which become their own gradient.
namespace debubble::exec {

namespace {

/// Targets and logits of the same tokens, with the sums that the loss needs.
struct LossCall {
    const OperatorCall& call;
    ConstTensorView targets;  ///< [tokens]
    TensorView logits;        ///< [tokens, share of the vocabulary]
    bool cut = false;         ///< the vocabulary, over the tensor-parallel ranks
    int ahead = 0;            ///< places between the next token and the one that is predicted
    ArenaTensor sums;  ///< [3, tokens]: largest, sum, target; and this share's largest if it is cut

    LossCall(const OperatorCall& operator_call, ConstTensorView those, TensorView logits_there,
             bool cut_vocabulary, int places_ahead)
        : call(operator_call),
          targets(those),
          logits(logits_there),
          cut(cut_vocabulary),
          ahead(places_ahead),
          sums(call.temporary({cut_vocabulary ? 4 : 3, targets.shape[0]}, DataType::Fp32)) {}

    TensorView part(int index) const {
        const std::int64_t tokens = targets.shape[0];
        return {
            sums.view().data + index * tokens * size_of(DataType::Fp32), {tokens}, DataType::Fp32};
    }
    TensorView largest() const { return part(0); }
    TensorView sum() const { return part(1); }
    TensorView target() const { return part(2); }
    TensorView own_largest() const { return cut ? part(3) : TensorView{}; }

    CrossEntropy loss() const {
        CrossEntropy loss;
        const std::int64_t share = logits.shape.columns();
        loss.first_entry = cut ? call.tensor_rank() * share : 0;
        loss.entries = std::clamp<std::int64_t>(call.model().vocab - loss.first_entry, 0, share);
        loss.ignore_index = call.state.step->ignore_index;
        loss.gradient_scale = call.state.step->gradient_scale;
        if (ahead > 0)
            loss.gradient_scale *=
                call.state.tools.mtp_loss_scaling_factor / call.model().mtp_layers;
        return loss;
    }

    void softmax() const {
        Kernels& kernels = call.kernels();
        kernels.cross_entropy_softmax(loss(), targets, logits, largest(), sum(), target());
        if (!cut) return;
        kernels.copy(largest(), own_largest());
        call.all_reduce(largest(), Reduction::Max);
        kernels.cross_entropy_rescale(loss(), targets, own_largest(), largest(), sum(), target());
        call.all_reduce(sum());
        call.all_reduce(target());
    }
    void count() const {
        if (call.again) return;
        call.kernels().cross_entropy_loss(
            loss(), targets, sum(), target(),
            call.total(ahead > 0 ? StepTotal::Ahead : StepTotal::Loss));
    }
    /// Called before softmax(). Where the vocabulary is cut, no rank sees a whole row.
    void count_correct() const {
        if (cut || ahead > 0 || call.again || call.state.step->training) return;
        call.kernels().count_correct(loss(), targets, logits, call.total(StepTotal::Correct));
    }
    void gradient() const {
        call.kernels().cross_entropy_gradient(loss(), targets, own_largest(), largest(), sum(),
                                              logits);
    }
};

/// The targets of this pass's tokens, in their order, or those `ahead` positions later, which the
/// last tokens of a sample lack. `memory` holds them if the sequence is split over slices or ranks,
/// if they come later, or if a device computes.
ConstTensorView targets_of(const OperatorCall& call, int ahead, ArenaTensor& memory) {
    const ConstTensorView& all = call.inputs().targets;
    const bool whole = call.how().slices == 1 && call.how().context == 1 && ahead == 0;
    if (whole) {
        const ConstTensorView flat = all.reshaped({all.shape.elements()});
        if (call.kernels().on_host()) return flat;
        memory = call.temporary(flat.shape, DataType::Int32);
        call.kernels().upload(flat, memory.view());
        return memory.view();
    }
    memory = call.temporary({call.tokens()}, DataType::Int32);
    call.upload_tokens(all, memory.view(), ahead, call.state.step->ignore_index);
    return memory.view();
}

/// The head and its loss, some tokens at a time: the logits never exist as a whole.
struct ChunkedCall {
    LinearCall head;
    std::int64_t rows;  ///< rows of a chunk
    ArenaTensor target_memory, own;
    ConstTensorView targets;
    ConstTensorView x;
    TensorView room;  ///< memory of the largest chunk's logits
    int ahead;
    std::optional<double> cap;
    ArenaTensor uncapped;  ///< the chunk's logits before a cap, if there is one

    ChunkedCall(const OperatorCall& call, const op::ChunkedLoss& roles, std::optional<int> gathered)
        : head(call, roles.head),
          rows(roles.rows),
          targets(targets_of(call, roles.ahead, target_memory)),
          x(head.gathered_input(gathered, own)),
          room(call.tensor(roles.head.y.tensor, {rows, roles.head.outputs})),
          ahead(roles.ahead),
          cap(roles.softcap) {
        if (cap) uncapped = call.temporary(room.shape, room.type);
    }

    template <class Body>
    void for_each_chunk(const Body& body) const {
        const std::int64_t all = head.product.rows;
        for (std::int64_t first = 0; first < all; first += rows) {
            const std::int64_t count = std::min(rows, all - first);
            const TensorView logits = rows_from(room, 0, count);
            head.call.kernels().linear_forward(head.layout, rows_from(x, first, count), head.weight,
                                               {}, logits);
            if (cap) {
                const TensorView before = rows_from(uncapped.view(), 0, count);
                head.call.kernels().copy(logits, before);
                head.call.kernels().soft_cap_forward(*cap, before, logits);
            }
            body(first, LossCall(head.call, rows_from(targets, first, count), logits,
                                 head.cuts_outputs, ahead));
        }
    }
};

/// Logits as a tensor, whose softmax is computed where it is kept.
LossCall loss_over_tensor(const OperatorCall& call, const op::Loss& roles,
                          ArenaTensor& target_memory) {
    const TensorView softmax =
        call.tensor(roles.softmax, {roles.rows, roles.columns}, executed_type(roles.softmax_type));
    return {call, targets_of(call, roles.ahead, target_memory), softmax, roles.cut, roles.ahead};
}

}  // namespace

void forward(const OperatorCall& call, const op::ChunkedLoss& roles) {
    const ChunkedCall chunks(call, roles, roles.head.gathered);
    chunks.for_each_chunk([](std::int64_t, const LossCall& loss) {
        loss.count_correct();
        loss.softmax();
        loss.count();
    });
}

void backward_input(const OperatorCall& call, const op::ChunkedLoss& roles) {
    const ChunkedCall chunks(call, roles, roles.head.gathered_again);
    const LinearCall& head = chunks.head;
    const op::Linear& product = roles.head;
    Kernels& kernels = call.kernels();
    const TensorView dx = call.tensor(product.x_gradient_partial.value_or(*product.x_gradient),
                                      {product.rows, product.inputs});
    chunks.for_each_chunk([&](std::int64_t first, const LossCall& loss) {
        loss.softmax();
        loss.gradient();
        const std::int64_t count = loss.logits.shape[0];
        if (chunks.cap)
            kernels.soft_cap_backward_input(
                *chunks.cap, loss.logits, rows_from(chunks.uncapped.view(), 0, count), loss.logits);
        kernels.linear_backward_input(head.layout, loss.logits, head.weight,
                                      rows_from(dx, first, count), Write::Overwrite);
        kernels.linear_backward_weight(head.layout, rows_from(chunks.x, first, count), loss.logits,
                                       head.weight_gradient(), {});
    });
    if (product.x_gradient_partial)
        return call.reduce_scatter(dx, call.stream(*product.x_gradient));
    if (head.cuts_outputs) call.all_reduce(dx);
}

void forward(const OperatorCall& call, const op::Loss& roles) {
    ArenaTensor memory;
    const LossCall loss = loss_over_tensor(call, roles, memory);
    if (roles.softmax != roles.logits.tensor)
        call.kernels().copy(call.tensor(roles.logits.tensor, loss.logits.shape), loss.logits);
    loss.count_correct();
    loss.softmax();
    loss.count();
    if (call.state.step->training) loss.gradient();
}

void backward_input(const OperatorCall& call, const op::Loss& roles) {
    if (roles.softmax == roles.logits.gradient) return;  // the forward has left the gradient there
    const Shape shape{roles.rows, roles.columns};
    call.kernels().copy(call.tensor(roles.softmax, shape, executed_type(roles.softmax_type)),
                        call.tensor(roles.logits.gradient, shape));
}

}  // namespace debubble::exec
