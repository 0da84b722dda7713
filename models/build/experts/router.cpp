#include "models/build/experts/route.h"

#include <cmath>

#include "models/execution/laws.h"

namespace debubble::models {

/// Logits, scores and the k best: a weight in fp32 for every token and expert.
Value ExpertRoute::weights(Value tokens) const {
    const std::int64_t count = experts.count;
    const std::int64_t rows = size().stream_tokens;
    const bool wide = experts.router_dtype == RouterDtype::Fp32 && size().element < 4;
    const std::int64_t logits = (wide ? 4 : size().element) * rows * count;
    const std::int64_t probabilities = 4 * rows * count;
    const RouterTerms& terms = builder.how().router_terms;
    // The softmax of the chosen logits has its derivative by itself.
    const bool keeps_logits = experts.router != Router::Softmax || terms.any();
    const Value y = value("router", probabilities);
    Operator op = start({router(), "experts.router", layer});
    op.inputs = {tokens.tensor};
    op.saved = {tokens.tensor, y.tensor};
    op.parameters = {builder.whole_parameter(router() + ".weight", {count, size().hidden})};
    if (experts.router_bias)
        op.parameters.push_back(
            builder.whole_parameter(router() + ".bias", {count}, Initial::Zeros));
    // The product of 16-bit operands has the logits' type.
    Gemm product{1, rows, count, size().hidden, {}};
    product.accumulated = Bytes{logits - size().element * rows * count};
    op.forward = {
        gemm(builder, "experts.router", layer, product),
        copies("router.top_k", logits, probabilities),
    };
    op::Router roles{op.parameters.front(), {}, tokens, y};
    if (experts.router_bias) roles.bias = op.parameters.back();
    if (experts.beside_ffn) {  // a scale of each column, and a factor of each expert
        op.parameters.push_back(
            builder.whole_parameter(router() + ".scale", {size().hidden}, Initial::Ones));
        op.parameters.push_back(
            builder.whole_parameter(router() + ".per_expert_scale", {count}, Initial::Ones));
    }
    roles.logits = builder.scratch("experts.router.logits", logits);
    roles.logits_gradient = wide ? y.gradient : builder.scratch("d.experts.router.logits", logits);
    roles.keeps_logits = keeps_logits;
    if (experts.bias_correction)
        roles.correction = builder.buffer(router() + ".e_score_correction_bias", {count});
    op.forward_uses = {tokens.tensor, roles.logits, y.tensor};
    op.backward_input = {
        copies("router.top_k.dx", 2 * probabilities + (keeps_logits ? logits : 0), logits)};
    op.backward_input_uses = {y.gradient, y.tensor};
    op.backward_weight_uses = {tokens.tensor, y.gradient};
    if (!wide) {
        op.backward_input_uses.push_back(roles.logits_gradient);
        op.backward_weight_uses.push_back(roles.logits_gradient);
    }
    add_backward(op, roles, wide);
    if (keeps_logits) {
        op.saved.push_back(roles.logits);
        op.backward_input_uses.push_back(roles.logits);
    }
    if (terms.balance) count_tokens(op, roles);
    if (builder.how().expert_capacity) drop_tokens(op, roles);
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return {roles.kept.value_or(y.tensor), y.gradient};
}

/// The products of the logits' gradient: in its type, so that fp32 ones have copies of what they
/// read in 16 bits (Megatron-Core's RouterGatingLinearFunction), and results that are added.
void ExpertRoute::add_backward(Operator& op, op::Router& roles, bool wide) const {
    const std::int64_t count = experts.count, rows = size().stream_tokens;
    const std::int64_t element = wide ? 4 : size().element, hidden = size().hidden;
    const std::int64_t tokens = size().stream_bytes() / size().element;
    const auto product = [&](const char* name, std::int64_t m, std::int64_t n, std::int64_t k) {
        Gemm shape{1, m, n, k, {}};
        // TransformerEngine multiplies operands in fp32 in TF32 (cublaslt_gemm.cu).
        if (wide) shape.pace = laws().tf32_time;
        return gemm(builder, name, layer, shape);
    };
    const auto widens = [&](const char* name, std::int64_t elements) {
        return copies(name, size().element * elements, 4 * elements);
    };
    roles.tokens_gradient_part = builder.scratch("d.experts.router.in", element * tokens);
    if (wide)
        roles.wide = {builder.scratch("experts.router.gate", 4 * count * hidden),
                      builder.scratch("experts.router.tokens", 4 * tokens),
                      builder.scratch("d.experts.router.gate", 4 * count * hidden)};
    // The tokens' gradient has come from the experts: this is added to it.
    if (wide) {
        op.backward_input.push_back(widens("router.gate", count * hidden));
        op.backward_input_uses.push_back(roles.wide->gate);
    }
    op.backward_input.push_back(product("experts.router.dx", rows, hidden, count));
    op.backward_input.push_back(copies(
        "router.accumulate", element * tokens + size().stream_bytes(), size().stream_bytes()));
    op.backward_input_uses.push_back(roles.tokens_gradient_part);
    op.backward_input_uses.push_back(roles.tokens.gradient);
    if (wide) op.backward_weight.push_back(widens("router.tokens", tokens));
    op.backward_weight.push_back(product("experts.router.dw", hidden, count, rows));
    if (!wide) return;
    op.backward_weight.push_back(
        copies("router.dw.accumulate", 8 * count * hidden, 4 * count * hidden));
    op.backward_weight_uses.push_back(roles.wide->tokens);
    op.backward_weight_uses.push_back(roles.wide->gate_gradient);
}

/// Of each expert's column of weights the largest stay (Megatron-Core's
/// apply_router_token_dropping).
void ExpertRoute::drop_tokens(Operator& op, op::Router& roles) const {
    const std::int64_t bytes = 4 * size().stream_tokens * experts.count;
    const double even = static_cast<double>(routed()) / static_cast<double>(experts.count);
    roles.capacity = static_cast<std::int64_t>(std::ceil(even * *builder.how().expert_capacity));
    roles.kept = builder.tensor("experts.router.kept", bytes);
    op.forward.push_back(copies("router.drop", bytes, bytes));
    op.forward_uses.push_back(*roles.kept);
}

/// Tokens that are balanced together are on several ranks. The last slice of a sequence adds the
/// counts of all slices.
void ExpertRoute::count_tokens(Operator& op, op::Router& roles) const {
    const Execution& how = builder.how();
    const RouterTerms& terms = how.router_terms;
    const std::int64_t bytes = 4 * experts.count * (terms.by_sequence ? size().samples : 1);
    roles.counts = builder.tensor("experts.router.counts", bytes);
    if (how.counts_tokens_once()) builder.graph.tensors[*roles.counts].slices = Across::Seen;
    op.forward.push_back(copies("router.count", 4 * size().stream_tokens * experts.count, bytes));
    using Group = Collective::Group;
    const auto sum_over = [&](Group group) {
        op.forward.push_back(
            communicate("router.counts", Collective::Kind::AllReduce, group, bytes));
    };
    if (how.slice + 1 == how.slices) {
        if (size().scattered) sum_over(Group::Tensor);
        if (terms.by_step)
            sum_over(Group::Data);  // context-parallel ranks are among them
        else if (how.context > 1)
            sum_over(Group::Context);
    }
    op.forward_uses.push_back(*roles.counts);
    op.saved.push_back(*roles.counts);
    op.backward_input_uses.push_back(*roles.counts);
}

}  // namespace debubble::models
