#include "exec/core/stage/linear_call.h"

/// Products with weights, cut by tensor parallelism as Megatron-LM cuts them.
namespace debubble::exec {

namespace {

/// The operator's parameters of one kind as one: they lie side by side. Of none without a shape.
TensorView packed(const OperatorCall& call, bool weights, bool gradients) {
    TensorView all;
    for (const int index : call.op.parameters) {
        if ((call.graph.parameters[index].shape.size() > 1) != weights) continue;
        const TensorView one = gradients ? call.gradient(index) : call.parameter(index);
        if (all.shape.rank() == 0) {
            all = one;
            continue;
        }
        assert((!one || one.data == all.data + all.bytes()) &&
               "an operator's weights lie side by side");
        all.shape = weights ? Shape{all.shape[0] + one.shape[0], one.shape.columns()}
                            : Shape{all.shape[0] + one.shape[0]};
    }
    if (weights && all.shape.rank() > 2)  // a convolution over patches
        all.shape = {all.shape[0], all.shape.elements() / all.shape[0]};
    return all;
}

}  // namespace

LinearCall::LinearCall(const OperatorCall& operator_call)
    : call(operator_call),
      layout(call.model().family == models::Family::Gpt2 && call.op.layer
                 ? WeightLayout::InputsOutputs
                 : WeightLayout::OutputsInputs),
      weight(packed(call, true, false)),
      bias(packed(call, false, false)) {
    const bool outputs_first = layout == WeightLayout::OutputsInputs;
    outputs = weight.shape[outputs_first ? 0 : 1];
    inputs = weight.shape[outputs_first ? 1 : 0];
    const models::Sharding sharding = call.graph.parameters[call.op.parameters[0]].sharding;
    const bool parallel = call.how().tensor > 1;
    const bool head = !call.op.layer && call.op.kind != models::OperatorKind::PatchEmbedding;
    // A head tied to an embedding that is cut by columns is cut by its inputs.
    cuts_inputs = parallel && (sharding == models::Sharding::Row ||
                               (head && sharding == models::Sharding::Column &&
                                call.graph.parameters[call.op.parameters[0]].cut_dimension == 1));
    cuts_outputs = parallel && !cuts_inputs && sharding != models::Sharding::Replicated;
    tokens = call.op.name == "classifier" ? call.samples()
             : call.op.kind == models::OperatorKind::PatchEmbedding
                 ? call.samples() * (call.rows() - 1)
                 : call.tokens();
}

TensorView LinearCall::weight_gradient() const {
    return packed(call, true, true);
}

TensorView LinearCall::bias_gradient() const {
    return packed(call, false, true);
}

ConstTensorView LinearCall::gathered_input(const std::vector<int>& uses, const char* suffix,
                                           ArenaTensor& own) const {
    const int x = call.op.inputs[0];
    if (!gathers_input()) return call.tensor(x, {tokens, inputs});
    const int buffer = call.named(uses, suffix);
    TensorView whole;
    if (buffer >= 0) {
        whole = call.tensor(buffer, {tokens, inputs});
    } else {
        own = call.temporary({tokens, inputs}, call.compute_type());
        whole = own.view();
    }
    call.all_gather(call.stream(x), whole);
    return whole;
}

void LinearCall::input_gradient(ConstTensorView dy) const {
    const Shape shape{tokens, inputs};
    const int dx = call.op.input_gradient;
    if (!gathers_input()) {
        const TensorView whole = call.tensor(dx, shape);
        call.kernels().linear_backward_input(layout, dy, weight, whole, Write::Overwrite);
        if (cuts_outputs) call.all_reduce(whole);
        return;
    }
    const TensorView partial =
        call.tensor(call.named(call.op.backward_input_uses, ".partial"), shape);
    call.kernels().linear_backward_input(layout, dy, weight, partial, Write::Overwrite);
    call.reduce_scatter(partial, call.stream(dx));
}

void linear_forward(const OperatorCall& call) {
    const LinearCall linear(call);
    Kernels& kernels = call.kernels();
    if (call.op.kind == models::OperatorKind::PatchEmbedding) {
        ArenaTensor memory;
        ConstTensorView images = call.inputs().inputs;
        if (!kernels.on_host()) {
            memory = call.temporary(images.shape, images.type);
            kernels.upload(images, memory.view());
            images = memory.view();
        }
        kernels.cut_patches(
            call.model().patch_size.value_or(1), images,
            call.tensor(call.op.inputs[0], {call.samples(), call.rows() - 1, linear.inputs}));
    }
    ArenaTensor own;
    const ConstTensorView x = linear.gathered_input(call.op.forward_uses, ".gathered", own);
    const Shape shape{linear.tokens, linear.outputs};
    const int y = call.op.outputs[0];
    if (!linear.cuts_inputs) {
        return kernels.linear_forward(linear.layout, x, linear.weight, linear.bias,
                                      call.tensor(y, shape));
    }
    // The ranks' sums first, then the bias, once.
    TensorView sum = call.tensor(
        y, {linear.scatters_output() ? call.stream_tokens() : linear.tokens, linear.outputs});
    if (linear.scatters_output()) {
        const TensorView partial = call.tensor(call.named(call.op.forward_uses, ".partial"), shape);
        kernels.linear_forward(linear.layout, x, linear.weight, {}, partial);
        call.reduce_scatter(partial, sum);
    } else {
        kernels.linear_forward(linear.layout, x, linear.weight, {}, sum);
        call.all_reduce(sum);
    }
    if (linear.bias) kernels.add_bias(linear.bias, sum);
}

namespace {

/// dy of all tokens: the input pass gathers it where the output was scattered.
TensorView output_gradient(const LinearCall& linear, bool gather) {
    const OperatorCall& call = linear.call;
    const Shape shape{linear.tokens, linear.outputs};
    if (!linear.scatters_output()) return call.tensor(call.op.output_gradient, shape);
    const TensorView whole =
        call.tensor(call.named(call.op.backward_input_uses, ".gathered"), shape);
    if (gather) call.all_gather(call.stream(call.op.output_gradient), whole);
    return whole;
}

}  // namespace

void linear_backward_input(const OperatorCall& call) {
    const LinearCall linear(call);
    const TensorView dy = output_gradient(linear, true);
    if (call.op.input_gradient >= 0) linear.input_gradient(dy);
}

void linear_backward_weight(const OperatorCall& call) {
    const LinearCall linear(call);
    ArenaTensor own;
    const ConstTensorView x =
        linear.gathered_input(call.op.backward_weight_uses, ".regathered", own);
    const bool scattered = linear.scatters_output();
    const TensorView dy = output_gradient(linear, false);
    const TensorView dbias = linear.bias_gradient();
    call.kernels().linear_backward_weight(linear.layout, x, dy, linear.weight_gradient(),
                                          scattered ? TensorView{} : dbias);
    // As Megatron-LM's: of this rank's positions, to be summed over the tensor group. What was
    // scattered may be gone by now; its rows are among those that were gathered.
    if (scattered && dbias) {
        const std::int64_t own_rows = call.stream_tokens();
        call.kernels().bias_backward_weight(rows_from(dy, call.tensor_rank() * own_rows, own_rows),
                                            dbias);
    }
}

void linear_activation_forward(const OperatorCall& call, const OperatorCall& activation) {
    const LinearCall linear(call);
    ArenaTensor own;
    const ConstTensorView x = linear.gathered_input(call.op.forward_uses, ".gathered", own);
    const Shape shape{linear.tokens, linear.outputs};
    call.kernels().linear_activation_forward(
        linear.layout, nonlinearity_of(call.model().activation), x, linear.weight, linear.bias,
        call.tensor(call.op.outputs[0], shape), activation.tensor(activation.op.outputs[0], shape));
}

void linear_activation_backward_input(const OperatorCall& call, const OperatorCall& activation) {
    const LinearCall linear(call);
    const Shape shape{linear.tokens, linear.inputs};
    call.kernels().linear_activation_backward_input(
        linear.layout, nonlinearity_of(call.model().activation), output_gradient(linear, true),
        linear.weight, activation.tensor(activation.op.inputs[0], shape),
        activation.tensor(activation.op.input_gradient, shape));
}

}  // namespace debubble::exec
