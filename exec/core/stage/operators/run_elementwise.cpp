#include "exec/core/stage/operators/operator_call.h"

/// Norms, nonlinearities, residual sums, and moves of columns between ranks.
namespace debubble::exec {

namespace {

struct NormCall {
    const OperatorCall& call;
    const op::Norm& norm;
    bool layer_norm = norm.function == models::Norm::LayerNorm;
    double eps = call.model().norm_eps;
    TensorView weight = call.parameter(norm.gain);
    TensorView x = wide(norm.x.tensor);
    TensorView statistics = call.tensor(
        norm.statistics, layer_norm ? Shape{call.stream_tokens(), 2} : Shape{call.stream_tokens()},
        DataType::Fp32);

    /// x, or its gradient, which has more columns than are normalised in latent attention.
    TensorView wide(int index) const {
        const std::int64_t rows = call.stream_tokens();
        const std::int64_t bytes = call.graph.tensors[norm.x.tensor].bytes.count;
        return call.tensor(index, {rows, bytes / rows / size_of(call.compute_type())});
    }
    /// y, or its gradient.
    TensorView narrow(int index) const {
        return call.tensor(index, {call.stream_tokens(), weight.shape.elements()});
    }
    TensorView y() const { return narrow(norm.y.tensor); }
    /// Empty if the norm has none.
    TensorView bias() const { return norm.shift ? call.parameter(*norm.shift) : TensorView{}; }
};

/// [tokens of the MLP, or those that experts received; columns] before and after the nonlinearity.
struct ActivationCall {
    const OperatorCall& call;
    const op::Activation& act;
    std::int64_t rows = act.of_experts ? call.expert_rows(act.x.tensor) : act.rows;

    TensorView wide(int index) const {
        return call.tensor(index, {rows, (act.gated() ? 2 : 1) * act.columns});
    }
    TensorView narrow(int index) const { return call.tensor(index, {rows, act.columns}); }
};

}  // namespace

Nonlinearity nonlinearity_of(models::Activation activation) {
    switch (activation) {
        case models::Activation::Gelu: return Nonlinearity::Gelu;
        case models::Activation::Relu: return Nonlinearity::Relu;
        case models::Activation::SquaredRelu: return Nonlinearity::SquaredRelu;
        case models::Activation::GeluTanh:
        case models::Activation::Swiglu:
        case models::Activation::Geglu:
        case models::Activation::GegluTanh:
        case models::Activation::Xielu:
        case models::Activation::Situ:
        case models::Activation::ClampedSwiglu: break;
    }
    return Nonlinearity::GeluTanh;
}

Gate gate_of(models::Activation activation) {
    switch (activation) {
        case models::Activation::Geglu: return Gate::Gelu;
        case models::Activation::GegluTanh: return Gate::GeluTanh;
        case models::Activation::Situ:
        case models::Activation::ClampedSwiglu: return Gate::ClampedSilu;
        case models::Activation::Gelu:
        case models::Activation::GeluTanh:
        case models::Activation::Relu:
        case models::Activation::Xielu:
        case models::Activation::SquaredRelu:
        case models::Activation::Swiglu: break;
    }
    return Gate::Silu;
}

void forward(const OperatorCall& call, const op::Norm& roles) {
    const NormCall norm{call, roles};
    if (norm.layer_norm) {
        call.kernels().layer_norm_forward(norm.eps, norm.x, norm.weight, norm.bias(), norm.y(),
                                          norm.statistics);
    } else {
        call.kernels().rms_norm_forward(norm.eps, norm.x, norm.weight, norm.y(), norm.statistics);
    }
}

void backward_input(const OperatorCall& call, const op::Norm& roles) {
    const NormCall norm{call, roles};
    const TensorView dy = norm.narrow(roles.y.gradient);
    const TensorView dx = norm.wide(roles.x.gradient);
    const TensorView through = roles.through ? call.stream(*roles.through) : TensorView{};
    const TensorView dweight = call.gradient(roles.gain);
    if (norm.layer_norm)
        call.kernels().layer_norm_backward(
            dy, norm.x, norm.weight, norm.statistics, through, dx, dweight,
            roles.shift ? call.gradient(*roles.shift) : TensorView{});
    else
        call.kernels().rms_norm_backward(dy, norm.x, norm.weight, norm.statistics, through, dx,
                                         dweight);
}

void residual_norm_forward(const OperatorCall& residual, const OperatorCall& call) {
    const NormCall norm{call, std::get<op::Norm>(call.op.roles)};
    const TensorView x = residual.stream(std::get<op::Residual>(residual.op.roles).x);
    const TensorView y = norm.y(), branch = y;
    if (norm.layer_norm)
        call.kernels().residual_layer_norm_forward(norm.eps, x, branch, norm.weight, norm.bias(),
                                                   norm.x, y, norm.statistics);
    else
        call.kernels().residual_rms_norm_forward(norm.eps, x, branch, norm.weight, norm.x, y,
                                                 norm.statistics);
}

void forward(const OperatorCall& call, const op::Activation& roles) {
    const ActivationCall act{call, roles};
    if (act.rows == 0) return;  // the rank's experts received no tokens
    const TensorView x = act.wide(roles.x.tensor), y = act.narrow(roles.y.tensor);
    if (roles.gated()) return call.kernels().gated_forward(gate_of(roles.function), x, y);
    call.kernels().activation_forward(nonlinearity_of(roles.function), x, y);
}

void backward_input(const OperatorCall& call, const op::Activation& roles) {
    const ActivationCall act{call, roles};
    if (act.rows == 0) return;
    const TensorView x = act.wide(roles.x.tensor);
    const TensorView dy = act.narrow(roles.y.gradient), dx = act.wide(roles.x.gradient);
    if (roles.gated())
        return call.kernels().gated_backward_input(gate_of(roles.function), dy, x, dx);
    call.kernels().activation_backward_input(nonlinearity_of(roles.function), dy, x, dx);
}

void forward(const OperatorCall& call, const op::Residual& roles) {
    const TensorView x = call.stream(roles.x), y = call.stream(roles.y);
    const TensorView branch = call.stream(roles.branch);
    if (call.dropout() == 0) return call.kernels().residual_forward(x, branch, y);
    call.drop_stream(branch, y);
    call.kernels().residual_forward(x, y, y);
}

/// The sum's gradient is that of both terms; only with dropout does the branch's differ.
void backward_input(const OperatorCall& call, const op::Residual& roles) {
    if (roles.branch_gradient == roles.gradient) return;
    const TensorView dy = call.stream(roles.gradient);
    const TensorView dbranch = call.stream(roles.branch_gradient);
    if (call.dropout() > 0) return call.drop_stream(dy, dbranch);
    call.kernels().copy(dy, dbranch);
}

/// The sum of two branches has one gradient, which is that of both.
void forward(const OperatorCall& call, const op::AddBranches& roles) {
    call.kernels().residual_forward(call.stream(roles.a.tensor), call.stream(roles.b.tensor),
                                    call.stream(roles.y.tensor));
}

namespace {

/// Moves between [tokens, columns] and the rank's own columns.
struct ColumnsCall {
    const OperatorCall& call;
    std::int64_t columns;

    void gather(int own, int whole) const {
        const std::int64_t share = columns / call.how().tensor;
        call.gather_columns(call.tensor(own, {call.tokens(), share}),
                            call.tensor(whole, {call.tokens(), columns}));
    }
    void take(int whole, int own) const {
        const std::int64_t share = columns / call.how().tensor;
        call.kernels().take_columns(call.tensor_rank(), call.how().tensor,
                                    call.tensor(whole, {call.tokens(), columns}),
                                    call.tensor(own, {call.tokens(), share}));
    }
};

}  // namespace

void forward(const OperatorCall& call, const op::GatherColumns& roles) {
    ColumnsCall{call, roles.columns}.gather(roles.x.tensor, roles.y.tensor);
}

void backward_input(const OperatorCall& call, const op::GatherColumns& roles) {
    ColumnsCall{call, roles.columns}.take(roles.y.gradient, roles.x.gradient);
}

void forward(const OperatorCall& call, const op::SliceColumns& roles) {
    ColumnsCall{call, roles.columns}.take(roles.x.tensor, roles.y.tensor);
}

void backward_input(const OperatorCall& call, const op::SliceColumns& roles) {
    ColumnsCall{call, roles.columns}.gather(roles.y.gradient, roles.x.gradient);
}

void forward(const OperatorCall& call, const op::PickClassToken& roles) {
    call.kernels().first_row_forward(
        call.tensor(roles.x.tensor, {call.samples(), call.rows(), call.model().hidden}),
        call.tensor(roles.y.tensor, {call.samples(), call.model().hidden}));
}

void backward_input(const OperatorCall& call, const op::PickClassToken& roles) {
    call.kernels().first_row_backward_input(
        call.tensor(roles.y.gradient, {call.samples(), call.model().hidden}),
        call.tensor(roles.x.gradient, {call.samples(), call.rows(), call.model().hidden}));
}

}  // namespace debubble::exec
