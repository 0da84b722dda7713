#include "exec/core/stage/operators/operator_call.h"

/// Routers of experts: their choice, its weights, and the terms that they add to the loss.
namespace debubble::exec {

namespace {

RouterScore score_of(models::Router router) {
    switch (router) {
        case models::Router::Softmax: return RouterScore::Softmax;
        case models::Router::PreSoftmax: return RouterScore::PreSoftmax;
        case models::Router::SqrtSoftplus:
        case models::Router::Sigmoid: return RouterScore::Sigmoid;
    }
    return RouterScore::Softmax;
}

RouterChoice choice_of(const models::Experts& experts) {
    return {score_of(experts.router), experts.per_token,    experts.groups,
            experts.groups_chosen,    experts.renormalised, experts.scaling};
}

/// The number of experts that a token has the largest scores for, whatever else decides its choice.
RouterChoice best_of(const models::Experts& experts) {
    return {RouterScore::Softmax, experts.per_token};
}

struct RouterCall {
    const OperatorCall& call;
    const op::Router& roles;
    const models::Experts& experts = call.experts();
    const models::RouterTerms& terms = call.how().router_terms;
    RouterChoice choice = choice_of(experts);

    TensorView logits() const {
        const Shape shape{call.stream_tokens(), experts.count};
        return roles.wide ? call.tensor(roles.logits, shape, DataType::Fp32)
                          : call.tensor(roles.logits, shape);
    }
    TensorView bias() const { return roles.bias ? call.parameter(*roles.bias) : TensorView{}; }
    TensorView weights() const { return by_expert(roles.weights.tensor, call.stream_tokens()); }
    TensorView gradient() const { return by_expert(roles.weights.gradient, call.stream_tokens()); }
    TensorView correction() const {
        return roles.correction ? call.state.tools.parameters.buffer(*roles.correction)
                                : TensorView{};
    }
    std::int64_t groups() const { return terms.by_sequence ? call.samples() : 1; }
    bool sliced() const { return call.how().slices > 1; }
    /// The weights that remain where experts have a capacity.
    TensorView kept() const {
        return roles.kept ? by_expert(*roles.kept, call.stream_tokens()) : weights();
    }
    TensorView counts() const {
        return roles.counts ? by_expert(*roles.counts, groups()) : TensorView{};
    }

    void forward() const;
    void backward_input() const;

private:
    TensorView by_expert(int index, std::int64_t rows) const {
        return call.tensor(index, {rows, experts.count}, DataType::Fp32);
    }
    void count_best() const;
    void join_slices() const;
    void sum_over_ranks() const;
    void add_losses(const RouterLosses& losses) const;
    /// The factors of a token, for losses that are means over the microbatches of all replicas.
    RouterLosses losses() const;
    /// Calls body(first token, tokens, counts) for tokens that share counts, fp32 [1, experts].
    template <class Body>
    void each_group(const Body& body) const {
        const TensorView all = counts();
        if (!terms.by_sequence) return body(0, call.stream_tokens(), all);
        for (const TokenRun& run : call.stream_runs())
            body(run.offset, run.count, all ? rows_from(all, run.sample, 1) : TensorView{});
    }
};

RouterLosses RouterCall::losses() const {
    const scenarios::RouterOptions& options = call.state.tools.routers;
    const double scale = call.state.step->micro_batch_scale;
    const auto of_sequence = static_cast<double>(call.how().seq_length);
    const auto samples = static_cast<double>(call.samples());
    RouterLosses losses{choice.score, 0, 0};
    if (terms.z) losses.z = scale * options.z_loss_coeff / (of_sequence * samples);
    if (!terms.balance) return losses;
    // A term over all replicas is one for all of them, over the tokens of all.
    const double replicas = terms.by_step ? call.data_ranks() : 1;
    const double tokens = terms.by_sequence ? of_sequence : of_sequence * samples * replicas;
    losses.balance =
        replicas * scale * options.aux_loss_coeff * static_cast<double>(experts.count) /
        (static_cast<double>(experts.per_token) * tokens * tokens * static_cast<double>(groups()));
    return losses;
}

void RouterCall::forward() const {
    call.kernels().linear_forward(WeightLayout::OutputsInputs, call.stream(roles.tokens.tensor),
                                  call.parameter(roles.gate), bias(), logits());
    const bool counted = call.again && call.how().counts_tokens_once();
    if (call.state.step->training && terms.balance && !counted) count_best();
    call.kernels().route_forward(choice, logits(), correction(), weights());
    if (roles.kept) call.kernels().drop_over_capacity(roles.capacity, weights(), kept());
    if (!call.state.step->training || call.again) return;
    if (const TensorView loads = call.state.tools.parameters.expert_loads(call.op.layer.value()))
        call.kernels().count_chosen(kept(), loads);
    RouterLosses now = losses();
    if (sliced()) now.balance = 0;  // the tokens of later slices are not known yet
    add_losses(now);
}

/// The weights' memory has room for a choice that neither groups nor a correction change.
void RouterCall::count_best() const {
    call.kernels().route_forward(best_of(experts), logits(), {}, weights());
    call.kernels().fill_zero(counts());
    each_group([&](std::int64_t first, std::int64_t count, const TensorView& counted) {
        call.kernels().count_chosen(rows_from(weights(), first, count), counted);
    });
    if (sliced()) return join_slices();
    sum_over_ranks();
}

/// The last slice gives the counts of all slices to each: their backward comes after it.
void RouterCall::join_slices() const {
    if (call.slice + 1 < call.how().slices) return;
    const auto of_slice = [&](int slice) {
        return call.tensor_of_slice(slice, roles.counts.value(), {groups(), experts.count},
                                    DataType::Fp32);
    };
    for (int slice = 0; slice < call.slice; ++slice) call.kernels().add(of_slice(slice), counts());
    sum_over_ranks();
    for (int slice = 0; slice < call.slice; ++slice) call.kernels().copy(counts(), of_slice(slice));
}

void RouterCall::sum_over_ranks() const {
    if (!terms.by_step) return call.sum_over_tokens(counts());
    call.sum_over_replicas(counts());
    // The mean over the microbatches so far takes the place of this one's counts.
    BalancedSoFar& so_far = call.state.balanced.at(call.op.layer.value());
    const TensorView all = so_far.counts.view(), mine = by_expert(*roles.counts, 1);
    const TensorView row{mine.data, all.shape, mine.type};
    call.kernels().add(row, all);
    ++so_far.micro_batches;
    call.kernels().copy(all, row);
    call.kernels().scale(1.0 / so_far.micro_batches, row);
}

void RouterCall::add_losses(const RouterLosses& losses) const {
    if (losses.balance == 0 && losses.z == 0) return;
    each_group([&](std::int64_t first, std::int64_t count, const TensorView& counted) {
        call.kernels().router_losses_forward(losses, rows_from(logits(), first, count), counted,
                                             call.total(StepTotal::Balance),
                                             call.total(StepTotal::Z));
    });
}

void RouterCall::backward_input() const {
    const TensorView dlogits = gradient();
    call.kernels().route_backward_input(choice, dlogits, weights(),
                                        roles.keeps_logits ? logits() : TensorView{}, dlogits);
    if (!terms.any()) return;
    const RouterLosses all = losses();
    if (sliced()) add_losses({all.score, all.balance, 0});
    each_group([&](std::int64_t first, std::int64_t count, const TensorView& counted) {
        call.kernels().router_losses_backward_input(all, rows_from(logits(), first, count), counted,
                                                    rows_from(dlogits, first, count));
    });
}

/// The gradient of the logits, which has overwritten that of the weights, as an operand of GEMMs.
TensorView logits_gradient(const OperatorCall& call, const op::Router& roles) {
    const TensorView made = RouterCall{call, roles}.gradient();
    if (roles.wide) return made;
    const TensorView narrow =
        call.tensor(roles.logits_gradient, {call.stream_tokens(), call.experts().count});
    call.kernels().copy(made, narrow);
    return narrow;
}

/// An fp32 copy of an operand of a GEMM in fp32.
TensorView widened(const OperatorCall& call, const TensorView& narrow, int index) {
    const TensorView wide = call.tensor(index, narrow.shape, DataType::Fp32);
    call.kernels().copy(narrow, wide);
    return wide;
}

}  // namespace

void forward(const OperatorCall& call, const op::Router& roles) {
    RouterCall{call, roles}.forward();
}

void backward_input(const OperatorCall& call, const op::Router& roles) {
    RouterCall{call, roles}.backward_input();
    const TensorView tokens = call.stream(roles.tokens.gradient);
    const TensorView part = call.tensor(roles.tokens_gradient_part, tokens.shape,
                                        roles.wide ? DataType::Fp32 : tokens.type);
    const TensorView gate = roles.wide ? widened(call, call.parameter(roles.gate), roles.wide->gate)
                                       : call.parameter(roles.gate);
    call.kernels().linear_backward_input(WeightLayout::OutputsInputs, logits_gradient(call, roles),
                                         gate, part, Write::Overwrite);
    call.kernels().add(part, tokens);
}

void backward_weight(const OperatorCall& call, const op::Router& roles) {
    const TensorView tokens = call.stream(roles.tokens.tensor), gate = call.gradient(roles.gate);
    const TensorView bias = roles.bias ? call.gradient(*roles.bias) : TensorView{};
    const TensorView dlogits = logits_gradient(call, roles);
    if (!roles.wide)
        return call.kernels().linear_backward_weight(WeightLayout::OutputsInputs, tokens, dlogits,
                                                     gate, bias);
    const TensorView part = call.tensor(roles.wide->gate_gradient, gate.shape, DataType::Fp32);
    call.kernels().fill_zero(part);
    call.kernels().linear_backward_weight(WeightLayout::OutputsInputs,
                                          widened(call, tokens, roles.wide->tokens), dlogits, part,
                                          bias);
    call.kernels().add(part, gate);
}

namespace {

struct SharedGateCall {
    const OperatorCall& call;
    const op::SharedGate& roles;
    TensorView x = call.stream(roles.tokens.tensor);
    TensorView branch = call.stream(roles.branch.tensor);
    TensorView weight = call.parameter(roles.weight);
    TensorView scores = call.tensor(roles.scores, {call.stream_tokens()}, DataType::Fp32);
};

}  // namespace

void forward(const OperatorCall& call, const op::SharedGate& roles) {
    const SharedGateCall gate{call, roles};
    call.kernels().shared_gate_forward(gate.x, gate.weight, gate.branch,
                                       call.stream(roles.y.tensor), gate.scores);
}

void backward_input(const OperatorCall& call, const op::SharedGate& roles) {
    const SharedGateCall gate{call, roles};
    call.kernels().shared_gate_backward(
        call.stream(roles.y.gradient), gate.x, gate.weight, gate.branch, gate.scores,
        call.stream(roles.branch.gradient), call.stream(roles.tokens.gradient),
        call.gradient(roles.weight));
}

}  // namespace debubble::exec
