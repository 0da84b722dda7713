#include <algorithm>

#include "exec/core/stage/linear_call.h"

/// The loss is taken where the logits lie, which become their own gradient.
namespace debubble::exec {

namespace {

/// Targets and logits of the same tokens, with the sums that the loss needs.
struct LossCall {
    const OperatorCall& call;
    ConstTensorView targets;  ///< [tokens]
    TensorView logits;        ///< [tokens, share of the vocabulary]
    bool cut = false;         ///< the vocabulary, over the tensor-parallel ranks
    ArenaTensor sums;  ///< [3, tokens]: largest, sum, target; and this share's largest if it is cut

    LossCall(const OperatorCall& operator_call, ConstTensorView those, TensorView logits_there,
             bool cut_vocabulary)
        : call(operator_call),
          targets(those),
          logits(logits_there),
          cut(cut_vocabulary),
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
        call.kernels().cross_entropy_loss(loss(), targets, sum(), target(), total(0));
    }
    /// Before softmax(); where the vocabulary is cut nobody sees a whole row.
    void count_correct() const {
        if (cut || call.again || call.state.step->training) return;
        call.kernels().count_correct(loss(), targets, logits, total(1));
    }
    void gradient() const {
        call.kernels().cross_entropy_gradient(loss(), targets, own_largest(), largest(), sum(),
                                              logits);
    }
    TensorView total(int index) const {
        return {
            call.state.totals.view().data + index * size_of(DataType::Fp64), {1}, DataType::Fp64};
    }
};

/// Of this pass's tokens, in their order; `memory` holds them if slices or ranks part the sequence,
/// or if a device computes.
ConstTensorView targets_of(const OperatorCall& call, ArenaTensor& memory) {
    const ConstTensorView& all = call.inputs().targets;
    const bool classes = call.model().family == models::Family::Vit;
    const bool whole = call.how().slices == 1 && call.how().context == 1;
    if (whole || classes) {
        const ConstTensorView flat = all.reshaped({all.shape.elements()});
        if (call.kernels().on_host()) return flat;
        memory = call.temporary(flat.shape, DataType::Int32);
        call.kernels().upload(flat, memory.view());
        return memory.view();
    }
    memory = call.temporary({call.tokens()}, DataType::Int32);
    call.upload_tokens(all, memory.view());
    return memory.view();
}

/// The head and its loss, some tokens at a time: the logits never exist as a whole.
struct ChunkedLoss {
    LinearCall head;
    ArenaTensor target_memory, own;
    ConstTensorView targets;
    ConstTensorView x;
    TensorView room;  ///< of the largest chunk's logits

    ChunkedLoss(const OperatorCall& call, const std::vector<int>& uses, const char* gathered)
        : head(call),
          targets(targets_of(call, target_memory)),
          x(head.gathered_input(uses, gathered, own)),
          room(call.rows_of(call.named(call.op.forward_uses, "head.out"), head.outputs)) {}

    template <class Body>
    void for_each_chunk(const Body& body) const {
        for (std::int64_t first = 0; first < head.tokens; first += room.shape[0]) {
            const std::int64_t count = std::min(room.shape[0], head.tokens - first);
            const TensorView logits = rows_from(room, 0, count);
            head.call.kernels().linear_forward(head.layout, rows_from(x, first, count), head.weight,
                                               {}, logits);
            body(first,
                 LossCall(head.call, rows_from(targets, first, count), logits, head.cuts_outputs));
        }
    }
};

void chunked_forward(const OperatorCall& call) {
    const ChunkedLoss chunks(call, call.op.forward_uses, ".gathered");
    chunks.for_each_chunk([](std::int64_t, const LossCall& loss) {
        loss.count_correct();
        loss.softmax();
        loss.count();
    });
}

/// Both gradients of the head, chunk by chunk.
void chunked_backward(const OperatorCall& call) {
    const ChunkedLoss chunks(call, call.op.backward_input_uses, ".regathered");
    const LinearCall& head = chunks.head;
    Kernels& kernels = call.kernels();
    const int partial = call.named(call.op.backward_input_uses, ".partial");
    const TensorView dx =
        call.tensor(partial >= 0 ? partial : call.op.input_gradient, {head.tokens, head.inputs});
    chunks.for_each_chunk([&](std::int64_t first, const LossCall& loss) {
        loss.softmax();
        loss.gradient();
        const std::int64_t count = loss.logits.shape[0];
        kernels.linear_backward_input(head.layout, loss.logits, head.weight,
                                      rows_from(dx, first, count), Write::Overwrite);
        kernels.linear_backward_weight(head.layout, rows_from(chunks.x, first, count), loss.logits,
                                       head.weight_gradient(), {});
    });
    if (head.gathers_input()) return call.reduce_scatter(dx, call.stream(call.op.input_gradient));
    if (head.cuts_outputs) call.all_reduce(dx);
}

bool is_chunked(const OperatorCall& call) {
    return !call.op.parameters.empty();
}

/// Logits as a tensor: fp32 beside them for a classifier, in place for a language model.
LossCall loss_over_tensor(const OperatorCall& call, ArenaTensor& target_memory) {
    const ConstTensorView targets = targets_of(call, target_memory);
    const bool classifier = call.model().family == models::Family::Vit;
    const int where = call.op.saved[0];
    const DataType type = classifier ? DataType::Fp32 : call.compute_type();
    const std::int64_t rows = targets.shape[0];
    const std::int64_t columns = call.live[where].view().bytes() / size_of(type) / rows;
    return {call, targets, call.tensor(where, {rows, columns}, type), columns < call.model().vocab};
}

}  // namespace

void loss_forward(const OperatorCall& call) {
    if (is_chunked(call)) return chunked_forward(call);
    ArenaTensor memory;
    const LossCall loss = loss_over_tensor(call, memory);
    if (call.op.saved[0] != call.op.inputs[0])
        call.kernels().copy(call.tensor(call.op.inputs[0], loss.logits.shape), loss.logits);
    loss.count_correct();
    loss.softmax();
    loss.count();
    if (call.state.step->training) loss.gradient();
}

void loss_backward_input(const OperatorCall& call) {
    if (is_chunked(call)) return chunked_backward(call);
    if (call.op.saved[0] == call.op.input_gradient) return;  // the forward has left it there
    const std::int64_t columns = call.model().vocab;
    const std::int64_t rows = call.samples();
    call.kernels().copy(call.tensor(call.op.saved[0], {rows, columns}, DataType::Fp32),
                        call.tensor(call.op.input_gradient, {rows, columns}));
}

}  // namespace debubble::exec
