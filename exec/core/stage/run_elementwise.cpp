#include "exec/core/stage/operator_call.h"

/// Norms, nonlinearities, residual sums, and what moves columns between ranks.
namespace debubble::exec {

namespace {

struct NormCall {
    const OperatorCall& call;
    bool layer_norm = call.model().norm == models::Norm::LayerNorm;
    double eps = call.model().norm_eps;
    TensorView x = call.stream(call.op.inputs[0]);
    TensorView weight = call.parameter(call.op.parameters[0]);
    TensorView statistics = call.tensor(
        call.op.saved[1], layer_norm ? Shape{call.stream_tokens(), 2} : Shape{call.stream_tokens()},
        DataType::Fp32);
};

/// [tokens, columns of the rank]
TensorView wide(const OperatorCall& call, int index) {
    const std::int64_t bytes = call.live[index].view().bytes();
    return call.rows_of(index, bytes / size_of(call.compute_type()) / call.tokens());
}

/// [rows of the MLP, or of all experts; columns of the rank] before and after the nonlinearity.
TensorView inner(const OperatorCall& call, int index, std::int64_t gates) {
    if (call.model().experts == 0) return wide(call, index);
    return call.tensor(index, {call.expert_rows(), gates * call.model().ffn});
}

}  // namespace

Nonlinearity nonlinearity_of(models::Activation activation) {
    switch (activation) {
        case models::Activation::Gelu: return Nonlinearity::Gelu;
        case models::Activation::Relu: return Nonlinearity::Relu;
        case models::Activation::GeluTanh:
        case models::Activation::Swiglu: break;
    }
    return Nonlinearity::GeluTanh;
}

void norm_forward(const OperatorCall& call) {
    const NormCall norm{call};
    const TensorView y = call.stream(call.op.outputs[0]);
    if (norm.layer_norm) {
        call.kernels().layer_norm_forward(norm.eps, norm.x, norm.weight,
                                          call.parameter(call.op.parameters[1]), y,
                                          norm.statistics);
    } else {
        call.kernels().rms_norm_forward(norm.eps, norm.x, norm.weight, y, norm.statistics);
    }
}

void norm_backward_input(const OperatorCall& call) {
    const NormCall norm{call};
    const TensorView dy = call.stream(call.op.output_gradient);
    const TensorView dx = call.stream(call.op.input_gradient);
    const TensorView through = call.op.through >= 0 ? call.stream(call.op.through) : TensorView{};
    const TensorView dweight = call.gradient(call.op.parameters[0]);
    if (norm.layer_norm)
        call.kernels().layer_norm_backward(dy, norm.x, norm.weight, norm.statistics, through, dx,
                                           dweight, call.gradient(call.op.parameters[1]));
    else
        call.kernels().rms_norm_backward(dy, norm.x, norm.weight, norm.statistics, through, dx,
                                         dweight);
}

void residual_norm_forward(const OperatorCall& residual, const OperatorCall& call) {
    const NormCall norm{call};
    const TensorView x = residual.stream(residual.op.inputs[0]);
    const TensorView y = call.stream(call.op.outputs[0]), branch = y;
    if (norm.layer_norm)
        call.kernels().residual_layer_norm_forward(norm.eps, x, branch, norm.weight,
                                                   call.parameter(call.op.parameters[1]), norm.x, y,
                                                   norm.statistics);
    else
        call.kernels().residual_rms_norm_forward(norm.eps, x, branch, norm.weight, norm.x, y,
                                                 norm.statistics);
}

void activation_forward(const OperatorCall& call) {
    const bool gated = call.model().gated();
    const TensorView x = inner(call, call.op.inputs[0], gated ? 2 : 1);
    const TensorView y = inner(call, call.op.outputs[0], 1);
    if (gated) return call.kernels().swiglu_forward(x, y);
    call.kernels().activation_forward(nonlinearity_of(call.model().activation), x, y);
}

void activation_backward_input(const OperatorCall& call) {
    const bool gated = call.model().gated();
    const TensorView x = inner(call, call.op.inputs[0], gated ? 2 : 1);
    const TensorView dy = inner(call, call.op.output_gradient, 1);
    const TensorView dx = inner(call, call.op.input_gradient, gated ? 2 : 1);
    if (gated) return call.kernels().swiglu_backward_input(dy, x, dx);
    call.kernels().activation_backward_input(nonlinearity_of(call.model().activation), dy, x, dx);
}

void residual_forward(const OperatorCall& call) {
    const TensorView x = call.stream(call.op.inputs[0]), y = call.stream(call.op.outputs[0]);
    const TensorView branch = call.stream(call.op.inputs[1]);
    if (call.dropout() == 0) return call.kernels().residual_forward(x, branch, y);
    call.drop_stream(branch, y);
    call.kernels().residual_forward(x, y, y);
}

/// The sum's gradient is both terms'; only dropout makes the branch's another.
void residual_backward_input(const OperatorCall& call) {
    if (call.op.branch_gradient == call.op.output_gradient) return;
    const TensorView dy = call.stream(call.op.output_gradient);
    const TensorView dbranch = call.stream(call.op.branch_gradient);
    if (call.dropout() > 0) return call.drop_stream(dy, dbranch);
    call.kernels().copy(dy, dbranch);
}

void gather_forward(const OperatorCall& call) {
    const int from = call.op.inputs[0], to = call.op.outputs[0];
    if (call.op.name == "class_token") {
        return call.kernels().first_row_forward(
            call.tensor(from, {call.samples(), call.rows(), call.model().hidden}),
            call.tensor(to, {call.samples(), call.model().hidden}));
    }
    const TensorView x = wide(call, from), y = wide(call, to);
    if (x.shape.columns() < y.shape.columns()) return call.gather_columns(x, y);
    call.kernels().take_columns(call.tensor_rank(), call.how().tensor, x, y);
}

void gather_backward_input(const OperatorCall& call) {
    const int from = call.op.output_gradient, to = call.op.input_gradient;
    if (call.op.name == "class_token") {
        return call.kernels().first_row_backward_input(
            call.tensor(from, {call.samples(), call.model().hidden}),
            call.tensor(to, {call.samples(), call.rows(), call.model().hidden}));
    }
    const TensorView dy = wide(call, from), dx = wide(call, to);
    if (dx.shape.columns() > dy.shape.columns()) return call.gather_columns(dy, dx);
    call.kernels().take_columns(call.tensor_rank(), call.how().tensor, dy, dx);
}

}  // namespace debubble::exec
