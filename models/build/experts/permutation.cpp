#include "models/build/experts/route.h"

#include <utility>

namespace debubble::models {

/// Permutation of the rank's own tokens around the all-to-all. DeepEP and HybridEP send tokens and
/// sum the results in their own kernels, which read the token-expert map; only received tokens are
/// sorted (Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py).
Kernel ExpertRoute::sorts(const std::string& kernel, std::int64_t read,
                          std::int64_t written) const {
    if (sorts_rows()) return copies(kernel, read, written);
    const std::int64_t map = size().stream_tokens * experts.count;
    return copies(kernel, 4 * map, map);
}

/// PyTorch's kernels instead of a fused one, where rows are sorted before the exchange.
bool ExpertRoute::permutes_eagerly() const {
    return builder.how().kernels.eager_permutation && sorts_rows();
}

/// Kernels on the token-expert map: its transpose, the indices and weights by masked_select, which
/// also counts, and the tokens by index_select.
std::vector<Kernel> ExpertRoute::permutes() const {
    const std::int64_t own = row_bytes(routed());
    const std::int64_t map = size().stream_tokens * experts.count;
    return {copies("permute.map", map, map),
            copies("permute.count", map, 8),
            copies("permute.indices", 9 * map, 8 * routed()),
            copies("permute.weights.map", 4 * map, 4 * map),
            copies("permute.weights.count", map, 8),
            copies("permute.weights", 5 * map, 4 * routed()),
            copies("permute", own, own)};
}

/// Zeros, and the traffic of scatter_add and index_add, one write per token.
std::vector<Kernel> ExpertRoute::unpermutes(const std::string& kernel, std::int64_t tokens) const {
    const std::int64_t own = row_bytes(routed());
    return {copies(kernel + ".zero", 0, tokens), copies(kernel, 2 * own, own)};
}

/// With one expert on the rank there is nothing to sort.
Value ExpertRoute::sorted(Value x, bool returns) const {
    if (size().experts == 1) return x;
    const std::string kernel = returns ? "unsort" : "sort";
    const std::int64_t bytes = row_bytes(size().all_expert_rows());
    const Value y = moved(kernel, op::Dispatch::Kind::Sort, returns, x, size().all_expert_rows(),
                          copies(kernel, bytes, bytes), copies(kernel + ".dx", bytes, bytes));
    mark_at_experts(y);
    return y;
}

Value ExpertRoute::to_experts(Value tokens, Value weights) const {
    const std::int64_t stream = token_bytes();
    const std::int64_t own = row_bytes(routed());
    const Value rows = value("permute", own);
    Operator op = start(at("permute"), tokens);
    op.roles = op::Permute{tokens, rows, weights.tensor};
    // The router's weights determine the expert of each row.
    op.inputs.push_back(weights.tensor);
    op.saved.push_back(weights.tensor);
    op.forward = {sorts("permute", own, own)};
    op.forward_uses = {tokens.tensor, rows.tensor, weights.tensor};
    op.backward_input = {sorts("permute.dx", own, stream)};
    if (permutes_eagerly()) {
        op.forward = permutes();
        op.backward_input = unpermutes("permute.dx", stream);
    }
    op.backward_input_uses = {rows.gradient, tokens.gradient, weights.tensor};
    if (experts.weighs_input) {  // the weights' gradient is made of the tokens
        std::get<op::Permute>(op.roles).weights_gradient = weights.gradient;
        op.saved.push_back(tokens.tensor);
        op.backward_input_uses.push_back(tokens.tensor);
        op.backward_input_uses.push_back(weights.gradient);
        op.backward_input.push_back(copies("permute.weigh.dx", 2 * own, 4 * routed()));
    }
    builder.graph.operators.push_back(std::move(op));
    return sorted(gathered(exchanged(rows, false), false), false);
}

/// `gradient` is that of the branch.
Value ExpertRoute::from_experts(Value rows, Value weights, int gradient) const {
    rows = exchanged(gathered(sorted(rows, true), true), true);
    const std::int64_t own = row_bytes(routed());
    const std::int64_t stream = token_bytes();
    const Value branch{builder.tensor("experts.unpermute.out", stream), gradient};
    Operator op = start(at("unpermute"));
    op.inputs = {rows.tensor, weights.tensor};
    op::Combine roles{rows, branch, weights.tensor, {}};
    if (builder.how().kernels.weighted_experts_activation || experts.weighs_input) {
        op.roles = roles;
        op.forward = permutes_eagerly() ? unpermutes("unpermute", stream)
                                        : std::vector{sorts("unpermute", own, stream)};
        op.saved = {weights.tensor};
        op.forward_uses = {rows.tensor, weights.tensor, branch.tensor};
        op.backward_input = {sorts("unpermute.dx", stream, own)};
        op.backward_input_uses = {gradient, weights.tensor, rows.gradient};
        builder.graph.operators.push_back(std::move(op));
        return branch;
    }
    op.saved = {rows.tensor, weights.tensor};
    op.forward = {copies("unpermute.weigh", own, own), copies("unpermute", own, stream)};
    roles.weighed = {weights, builder.scratch("experts.unpermute.weighted", own), 0};
    op.forward_uses = {rows.tensor, weights.tensor, roles.weighed->rows, branch.tensor};
    op.backward_input = {copies("unpermute.dx", stream, own),
                         copies("unpermute.weigh.dx", 2 * own, own)};
    roles.weighed->rows_gradient = builder.scratch("d.experts.unpermute.weighted", own);
    op.backward_input_uses = {gradient,         roles.weighed->rows_gradient,
                              rows.tensor,      weights.tensor,
                              weights.gradient, rows.gradient};
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return branch;
}

}  // namespace debubble::models
