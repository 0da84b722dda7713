
#include "base/check.h"
#include "exec/core/stage/operators/linear_call.h"

/// GEMMs with weights, cut by tensor parallelism as in Megatron-LM.
namespace debubble::exec {

namespace {

/// Extends `all` by the tensor that follows it in memory.
void append(TensorView& all, const TensorView& one) {
    if (all.shape.rank() == 0) {
        all = one;
        return;
    }
    DEBUBBLE_CHECK(!one || one.data == all.data + all.bytes(),
                   "an operator's weights are contiguous");
    const std::int64_t rows = all.shape[0] + one.shape[0];
    all.shape = all.shape.rank() > 1 ? Shape{rows, one.shape.columns()} : Shape{rows};
}

/// A convolution's weight over patches [outputs, channels, side, side] as a matrix.
TensorView as_matrix(TensorView weight) {
    if (weight.shape.rank() > 2)
        weight.shape = {weight.shape[0], weight.shape.elements() / weight.shape[0]};
    return weight;
}

}  // namespace

TensorView values_side_by_side(const OperatorCall& call, const std::vector<int>& parameters) {
    TensorView all;
    for (const int index : parameters) append(all, call.parameter(index));
    return all;
}

TensorView gradients_side_by_side(const OperatorCall& call, const std::vector<int>& parameters) {
    TensorView all;
    for (const int index : parameters) append(all, call.gradient(index));
    return all;
}

LinearCall::LinearCall(const OperatorCall& operator_call, const op::Linear& roles)
    : call(operator_call),
      product(roles),
      layout(roles.transposed ? WeightLayout::InputsOutputs : WeightLayout::OutputsInputs),
      weight(as_matrix(values_side_by_side(call, roles.weights))),
      bias(values_side_by_side(call, roles.biases)),
      cuts_inputs(call.how().tensor > 1 && roles.cuts_inputs()),
      cuts_outputs(call.how().tensor > 1 && roles.cuts_outputs()) {
    DEBUBBLE_CHECK(weight.shape.elements() == roles.inputs * roles.outputs,
                   "a weight has the planned size");
}

TensorView LinearCall::weight_gradient() const {
    return as_matrix(gradients_side_by_side(call, product.weights));
}

TensorView LinearCall::bias_gradient() const {
    return gradients_side_by_side(call, product.biases);
}

ConstTensorView LinearCall::gathered_input(std::optional<int> buffer, ArenaTensor& own) const {
    const Shape shape{product.rows, product.inputs};
    if (!product.gathers_x) return call.tensor(product.x, shape);
    TensorView whole;
    if (buffer) {
        whole = call.tensor(*buffer, shape);
    } else {
        own = call.temporary(shape, call.compute_type());
        whole = own.view();
    }
    call.all_gather(call.tensor(product.x, {call.stream_tokens(), product.inputs}), whole);
    return whole;
}

void LinearCall::input_gradient(ConstTensorView dy) const {
    const Shape shape{product.rows, product.inputs};
    const bool sums_ranks = product.x_gradient_partial.has_value() || cuts_outputs;
    if (product.x_gradient_part && !sums_ranks)
        return call.kernels().linear_backward_input(
            layout, dy, weight, call.tensor(*product.x_gradient, shape), Write::Add);
    const int result = product.x_gradient_part.value_or(*product.x_gradient);
    const TensorView dx = call.tensor(product.x_gradient_partial.value_or(result), shape);
    call.kernels().linear_backward_input(layout, dy, weight, dx, Write::Overwrite);
    TensorView sum = dx;
    if (product.x_gradient_partial) {
        sum = call.tensor(result, {call.stream_tokens(), product.inputs});
        call.reduce_scatter(dx, sum);
    } else if (cuts_outputs) {
        call.all_reduce(dx);
    }
    if (product.x_gradient_part)
        call.kernels().add(sum, call.tensor(*product.x_gradient, sum.shape));
}

TensorView LinearCall::output_gradient() const {
    return call.tensor(product.y_gradient_gathered.value_or(product.y.gradient),
                       {product.rows, product.outputs});
}

void forward(const OperatorCall& call, const op::Linear& roles) {
    const LinearCall linear(call, roles);
    Kernels& kernels = call.kernels();
    ArenaTensor own;
    const ConstTensorView x = linear.gathered_input(roles.gathered, own);
    const TensorView sum =
        call.tensor(roles.partial.value_or(roles.y.tensor), {roles.rows, roles.outputs});
    if (!linear.cuts_inputs)
        return kernels.linear_forward(linear.layout, x, linear.weight, linear.bias, sum);
    // The ranks' sums come first, then the bias, once.
    kernels.linear_forward(linear.layout, x, linear.weight, {}, sum);
    TensorView y = sum;
    if (roles.partial) {
        y = call.tensor(roles.y.tensor, {call.stream_tokens(), roles.outputs});
        call.reduce_scatter(sum, y);
    } else {
        call.all_reduce(sum);
    }
    if (linear.bias) kernels.add_bias(linear.bias, y);
}

void forward(const OperatorCall& call, const op::PatchEmbedding& roles) {
    Kernels& kernels = call.kernels();
    ArenaTensor memory;
    ConstTensorView images = call.inputs().inputs;
    if (!kernels.on_host()) {
        memory = call.temporary(images.shape, images.type);
        kernels.upload(images, memory.view());
        images = memory.view();
    }
    const std::int64_t patches = roles.product.rows / call.samples();
    kernels.cut_patches(
        call.model().patch_size.value_or(1), images,
        call.tensor(roles.product.x, {call.samples(), patches, roles.product.inputs}));
    memory = {};
    forward(call, roles.product);
}

void backward_input(const OperatorCall& call, const op::Linear& roles) {
    const LinearCall linear(call, roles);
    const TensorView dy = linear.output_gradient();
    if (roles.y_gradient_gathered) call.all_gather(call.stream(roles.y.gradient), dy);
    if (roles.x_gradient) linear.input_gradient(dy);
}

void backward_weight(const OperatorCall& call, const op::Linear& roles) {
    const LinearCall linear(call, roles);
    ArenaTensor own;
    const ConstTensorView x = linear.gathered_input(roles.gathered_again, own);
    const bool scattered = roles.y_gradient_gathered.has_value();
    const TensorView dy = linear.output_gradient();
    const TensorView dbias = linear.bias_gradient();
    call.kernels().linear_backward_weight(linear.layout, x, dy, linear.weight_gradient(),
                                          scattered ? TensorView{} : dbias);
    // As in Megatron-LM, these are sums over this rank's positions, to be summed over the tensor
    // group. The scattered tensor may be freed; its rows are among those that were gathered.
    if (scattered && dbias) {
        const std::int64_t own_rows = call.stream_tokens();
        call.kernels().bias_backward_weight(rows_from(dy, call.tensor_rank() * own_rows, own_rows),
                                            dbias);
    }
}

void linear_activation_forward(const OperatorCall& call, const OperatorCall& second) {
    const auto& roles = std::get<op::Linear>(call.op.roles);
    const auto& activation = std::get<op::Activation>(second.op.roles);
    const LinearCall linear(call, roles);
    ArenaTensor own;
    const ConstTensorView x = linear.gathered_input(roles.gathered, own);
    const Shape shape{roles.rows, roles.outputs};
    call.kernels().linear_activation_forward(
        linear.layout, nonlinearity_of(activation.function), x, linear.weight, linear.bias,
        call.tensor(roles.y.tensor, shape), second.tensor(activation.y.tensor, shape));
}

void linear_activation_backward_input(const OperatorCall& call, const OperatorCall& second) {
    const auto& roles = std::get<op::Linear>(call.op.roles);
    const auto& activation = std::get<op::Activation>(second.op.roles);
    const LinearCall linear(call, roles);
    const Shape shape{roles.rows, roles.inputs};
    const TensorView dy = linear.output_gradient();
    if (roles.y_gradient_gathered) call.all_gather(call.stream(roles.y.gradient), dy);
    call.kernels().linear_activation_backward_input(
        linear.layout, nonlinearity_of(activation.function), dy, linear.weight,
        second.tensor(activation.x.tensor, shape), second.tensor(activation.x.gradient, shape));
}

}  // namespace debubble::exec
