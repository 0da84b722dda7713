#include "models/expert_route.h"

#include <cmath>

namespace debubble::models {

/// Logits, scores and the k best: a weight in fp32 for every token and expert.
Value ExpertRoute::weights(Value tokens) const {
    const std::int64_t count = experts.count;
    const std::int64_t rows = size().stream_tokens;
    const std::int64_t logits = size().element * rows * count;
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
    op.forward = {
        gemm(builder, "experts.router", layer, {1, rows, count, size().hidden, {}}),
        copies("router.top_k", logits, probabilities),
    };
    op::Router roles{op.parameters.front(), {}, tokens, y};
    if (experts.router_bias) roles.bias = op.parameters.back();
    roles.logits = builder.scratch("experts.router.logits", logits);
    roles.logits_gradient = builder.scratch("d.experts.router.logits", logits);
    roles.keeps_logits = keeps_logits;
    if (experts.bias_correction)
        roles.correction = builder.buffer(router() + ".e_score_correction_bias", {count});
    op.forward_uses = {tokens.tensor, roles.logits, y.tensor};
    // The tokens' gradient has come from the experts: this is added to it.
    op.backward_input = {
        copies("router.top_k.dx", 2 * probabilities + (keeps_logits ? logits : 0), logits),
        gemm(builder, "experts.router.dx", layer, {1, rows, size().hidden, count, {}}),
        copies("router.accumulate", 2 * size().stream_bytes(), size().stream_bytes()),
    };
    roles.tokens_gradient_part = builder.scratch("d.experts.router.in", size().stream_bytes());
    op.backward_input_uses = {y.gradient, y.tensor, roles.logits_gradient,
                              roles.tokens_gradient_part, tokens.gradient};
    if (keeps_logits) {
        op.saved.push_back(roles.logits);
        op.backward_input_uses.push_back(roles.logits);
    }
    op.backward_weight = {
        gemm(builder, "experts.router.dw", layer, {1, size().hidden, count, rows, {}})};
    op.backward_weight_uses = {tokens.tensor, y.gradient, roles.logits_gradient};
    if (terms.balance) count_tokens(op, roles);
    if (builder.how().expert_capacity) drop_tokens(op, roles);
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return {roles.kept.value_or(y.tensor), y.gradient};
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

/// The tokens that are balanced together lie on all ranks that have a part of them. The last slice
/// of a sequence adds up those of all.
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
