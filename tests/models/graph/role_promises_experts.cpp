#include "tests/models/graph/role_promises.h"

/// Experts and their routers.
namespace debubble::models {

void Promise::operator()(const op::Router& it) {
    const std::int64_t entries = routed * keys().experts;
    read(it.tokens, e * stream, "fw", "i");
    make(it.weights, 4 * entries, "fi", "iw");
    const bool wide = keys().router_dtype == RouterDtype::Fp32 && e < 4;
    const std::int64_t in_products = wide ? 4 : e;  // bytes of an element
    role(it.logits, in_products * entries, it.keeps_logits ? "fi" : "f");
    EXPECT_EQ(it.keeps_logits, keys().router != Router::Softmax || how.router_terms.any());
    EXPECT_EQ(it.counts.has_value(), how.router_terms.balance);
    if (it.counts)
        role(*it.counts, 4 * keys().experts * (how.router_terms.by_sequence ? how.micro_batch : 1),
             "fi");
    EXPECT_EQ(it.correction.has_value(), keys().router_bias_correction);
    if (it.correction) {
        EXPECT_EQ(graph.buffers[*it.correction].shape, std::vector{keys().experts});
    }
    EXPECT_EQ(it.kept.has_value(), how.expert_capacity.has_value());
    role(it.kept, 4 * entries, "f");
    EXPECT_EQ(it.wide.has_value(), wide);
    if (it.wide) {
        EXPECT_EQ(it.logits_gradient, it.weights.gradient);
        role(it.wide->gate, 4 * keys().experts * model.hidden, "i");
        role(it.wide->tokens, 4 * stream, "w");
        role(it.wide->gate_gradient, 4 * keys().experts * model.hidden, "w");
    } else {
        role(it.logits_gradient, e * entries, "iw");
    }
    role(it.tokens_gradient_part, in_products * stream, "i");
    EXPECT_EQ(graph.parameters[it.gate].elements(), keys().experts * model.hidden);
    EXPECT_EQ(it.bias.has_value(), keys().router_bias);
    if (it.bias) {
        EXPECT_EQ(graph.parameters[*it.bias].elements(), keys().experts);
    }
}

void Promise::operator()(const op::SharedGate& it) {
    read(it.tokens, e * stream, "fi", "i");
    read(it.branch, e * stream, "fi", "i");
    make(it.y, e * stream, "f", "i");
    role(it.scores, 4 * routed, "fi");
    EXPECT_EQ(graph.parameters[it.weight].elements(), model.hidden);
}

void Promise::operator()(const op::Permute& it) {
    pass_on(it.tokens, e * of_rows(), it.rows, e * of_rows() * keys().experts_per_token);
    role(it.weights, 4 * routed * keys().experts, "fi");
    EXPECT_EQ(it.weights_gradient.has_value(), keys().weighs_experts_input);
    role(it.weights_gradient, 4 * routed * keys().experts, "i");
    if (it.weights_gradient) role(it.tokens.tensor, e * of_rows(), "i");
}

void Promise::operator()(const op::Dispatch& it) {
    pass_on(it.x, kAnySize, it.y, kAnySize);
}

void Promise::operator()(const op::Combine& it) {
    const std::int64_t rows = e * of_rows() * keys().experts_per_token;
    pass_on(it.rows, kAnySize, it.y, e * of_rows());
    role(it.weights, 4 * routed * keys().experts, "fi");
    if (!it.weighed) return;
    role(it.rows.tensor, kAnySize, "i");
    read(it.weighed->weights, 4 * routed * keys().experts, "fi", "i");
    role(it.weighed->rows, rows, "f");
    role(it.weighed->rows_gradient, rows, "i");
}

}  // namespace debubble::models
