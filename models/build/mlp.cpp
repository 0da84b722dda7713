#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

namespace debubble::models {

namespace {

/// DeepSeek-V3 kept the inputs of the nonlinearities of its layers with experts in 8 bits
/// (arXiv:2412.19437, 3.3.3). A kernel of its own for silu keeps that in the compute type.
bool keeps_narrow_input(const GraphBuilder& builder) {
    return builder.how().low_precision.narrows_activations(builder.layer_index) &&
           builder.layer().as<Experts>() != nullptr && builder.how().kernels.fused_bias_activation;
}

}  // namespace

Value activate(GraphBuilder& builder, const OperatorPlace& place, Value wide,
               const ActivationShape& shape) {
    const Sizes& size = builder.size;
    const std::int64_t bytes = size.element * shape.rows * shape.columns;
    const bool gated = is_gated(shape.function);
    const std::int64_t gates = gated ? 2 : 1;
    const bool in_place = builder.how().kernels.activation_gradient_in_place && !gated;
    const int tensor = builder.tensor(place.kernel + ".out", bytes);
    const Value out{tensor,
                    in_place ? wide.gradient : builder.tensor("d." + place.kernel + ".out", bytes),
                    wide.cut};
    op::Activation roles{shape.function, wide, out, shape.rows, shape.columns};
    roles.of_experts = shape.of_experts;
    Operator op = start(place);
    if (shape.function == Activation::Xielu)  // a slope of each half
        for (const char* slope : {".act_fn.alpha_p", ".act_fn.alpha_n"})
            op.parameters.push_back(builder.whole_parameter(place.name + slope, {1}));
    op.inputs = {wide.tensor};
    op.saved = {wide.tensor};
    op.forward_uses = {wide.tensor};
    op.forward = {moves(place.kernel, place.layer, gates * bytes, bytes)};
    std::int64_t kept_bytes = gates * bytes;
    if (keeps_narrow_input(builder)) {
        const Narrow type = operands_of(builder.how().low_precision.recipe);
        kept_bytes = shape.rows * narrow_bytes(type, gates * shape.columns);
        const int copy = builder.tensor(place.kernel + ".in.fp8", kept_bytes);
        roles.x_narrow = copy;
        op.saved = {copy};
        op.forward_uses.push_back(copy);
        op.forward = {moves(place.kernel, place.layer, gates * bytes, bytes + kept_bytes)};
        op.kept_copy = KeptCopy{
            wide.tensor, copy, {copy}, {moves(place.kernel, place.layer, kept_bytes, bytes)}};
    }
    op.backward_input = {
        moves(place.kernel + ".dx", place.layer, bytes + kept_bytes, gates * bytes)};
    if (!builder.how().kernels.fused_bias_activation && shape.biased) {
        op.forward.push_back(
            moves(place.kernel + ".bias", place.layer, gates * bytes, gates * bytes));
    }
    if (!builder.how().kernels.fused_bias_activation && gated) {
        // silu(gate) is a tensor of its own, kept for the product's backward
        roles.silu = builder.tensor(place.kernel + ".silu", bytes);
        op.saved.push_back(*roles.silu);
        op.forward_uses.push_back(*roles.silu);
        op.forward.push_back(moves(place.kernel + ".silu", place.layer, bytes, bytes));
        op.backward_input.push_back(
            moves(place.kernel + ".silu.dx", place.layer, 2 * bytes, 2 * bytes));
    }
    op.forward_uses.push_back(out.tensor);
    if (op.kept_copy) op.kept_copy->uses_again.push_back(out.tensor);
    op.backward_input_uses = {out.gradient};
    op.backward_input_uses.insert(op.backward_input_uses.end(), op.saved.begin(), op.saved.end());
    if (!in_place) op.backward_input_uses.push_back(wide.gradient);
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return out;
}

namespace {

/// The kernels of the operators from `first` on overlap an all-to-all of the experts.
void run_beside(GraphBuilder& builder, std::size_t first, Beside exchange) {
    if (!builder.how().kernels.shared_expert_overlap) return;
    for (std::size_t at = first; at < builder.next_operator(); ++at) {
        Operator& op = builder.graph.operators[at];
        for (std::vector<Kernel>* part : {&op.forward, &op.backward_input, &op.backward_weight})
            for (Kernel& kernel : *part) kernel.beside = exchange;
    }
}

/// An MLP from `normed` to a branch, whose kernels have names that begin with `kernels`.
struct DenseBranch {
    GraphBuilder& builder;
    const LayerNames& names;
    const DenseMlp& mlp;
    std::string kernels;

    OperatorPlace at(const std::string& name, const char* kernel) const {
        return {names.prefix + name, kernels + kernel, builder.layer_index};
    }
    Value build(Value normed, int gradient, bool adds_gradient) const;
};

Value DenseBranch::build(Value normed, int gradient, bool adds_gradient) const {
    const Sizes& size = builder.size;
    builder.size.ffn = mlp.ffn;
    builder.size.gates = is_gated(mlp.activation) ? 2 : 1;
    const LinearParameters in_weights = fc1_parameters(builder, names, mlp);
    const Sharding in_cut = builder.sharding_of(in_weights);
    builder.cut_ffn(in_cut == Sharding::Column);
    LinearShape in_shape{builder.part(in_cut == Sharding::Row, size.hidden, "hidden columns"),
                         size.gates * size.ffn, in_cut, mlp.bias};
    in_shape.adds_gradient = adds_gradient;
    in_shape.adapter = builder.how().lora && builder.how().lora->fc1;
    // Shared experts read the same norm as the router and the experts, and keep it as they do
    // (set_save_original_input).
    const bool shared = adds_gradient;
    in_shape.after_norm = !shared && builder.layer().norms != NormPosition::After;
    in_shape.keeps_original = shared && builder.how().low_precision.recipe != Recipe::Fp8Delayed;
    const std::size_t fc1 = builder.next_operator();
    const Value wide = linear(builder, at(names.fc1, ".fc1"), in_shape, in_weights, normed);
    const Value active = activate(builder, at(names.mlp, ".act"), wide,
                                  {mlp.activation, mlp.bias, false, size.tokens, size.ffn});
    if (shared) run_beside(builder, fc1, Beside::Dispatch);
    const LinearParameters out_weights = fc2_parameters(builder, names, mlp);
    const Sharding out_cut = builder.sharding_of(out_weights);
    LinearShape out_shape{builder.part(out_cut == Sharding::Row, mlp.ffn, "columns of the MLP"),
                          builder.part(out_cut == Sharding::Column, size.hidden, "hidden columns"),
                          out_cut, mlp.bias};
    out_shape.adapter = builder.how().lora && builder.how().lora->fc2;
    const std::size_t fc2 = builder.next_operator();
    const Value out =
        linear_to_stream(builder, at(names.fc2, ".fc2"), out_shape, out_weights, active, gradient);
    if (shared) run_beside(builder, fc2, Beside::Combine);
    return out;
}

/// The shared experts' branch times the sigmoid of one logit a token; the gradient of the tokens is
/// added to that of the branches.
Value gate_shared(GraphBuilder& builder, const LayerNames& names, Value tokens, Value branch,
                  int gradient) {
    const Sizes& size = builder.size;
    const OperatorPlace place{names.prefix + names.shared_gate, "shared.gate", builder.layer_index};
    const std::int64_t bytes = size.stream_bytes();
    const Value y{builder.tensor(place.kernel + ".out", bytes), gradient};
    op::SharedGate roles{builder.whole_parameter(place.name + ".weight", {1, size.hidden}), tokens,
                         branch, y,
                         builder.tensor(place.kernel + ".scores", 4 * size.stream_tokens)};
    Operator op = start(place);
    op.roles = roles;
    op.inputs = {tokens.tensor, branch.tensor};
    op.saved = {tokens.tensor, branch.tensor, roles.scores};
    op.parameters = {roles.weight};
    op.forward = {moves(place.kernel, place.layer, bytes, 4 * size.stream_tokens),
                  moves(place.kernel + ".scale", place.layer, bytes, bytes)};
    op.forward_uses = {tokens.tensor, branch.tensor, y.tensor, roles.scores};
    // The weight's gradient reads the tokens once more.
    op.backward_input = {moves(place.kernel + ".scale.dx", place.layer, 2 * bytes, bytes),
                         moves(place.kernel + ".dx", place.layer, bytes, bytes),
                         moves(place.kernel + ".dw", place.layer, bytes, 0)};
    op.backward_input_uses = {gradient,     tokens.tensor,   branch.tensor,
                              roles.scores, branch.gradient, tokens.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

/// The expert that every token goes through. Its gradient is added to that of the experts, whose
/// backward runs first.
Value shared_branch(GraphBuilder& builder, const LayerNames& names, const Experts& experts,
                    Value normed, int gradient) {
    LayerNames of_shared = names;
    of_shared.mlp = names.shared_experts;
    of_shared.fc1 = names.shared_experts + ".up_proj";
    of_shared.gate = names.shared_experts + ".gate_proj";
    of_shared.fc2 = names.shared_experts + ".down_proj";
    const DenseMlp mlp{*experts.shared_ffn, experts.activation, experts.bias};
    const DenseBranch branch{builder, of_shared, mlp, "shared"};
    if (!experts.shared_gate) return branch.build(normed, gradient, true);
    const int inner = builder.tensor("d.shared.branch", builder.size.stream_bytes());
    const Value ungated = branch.build(normed, inner, true);
    const std::size_t gate = builder.next_operator();
    const Value gated = gate_shared(builder, names, normed, ungated, gradient);
    run_beside(builder, gate, Beside::Combine);
    return gated;
}

/// A dense MLP of `opened` and experts of the same x, each with norms of its own, and their sum
/// (Gemma 4).
Value both_branches(GraphBuilder& builder, const LayerNames& names, Value x, Value opened,
                    int through, int gradient) {
    const Experts& experts = *builder.layer().as<Experts>();
    const auto normed = [&](const char* name, Value branch) {
        const OperatorPlace place{names.prefix + name, std::string("mlp.") + name,
                                  builder.layer_index};
        return norm_of_branch(builder, place, norm_parameters(builder, place.name), branch,
                              gradient);
    };
    const DenseMlp mlp{*experts.beside_ffn, experts.activation, experts.bias};
    const int of_dense = builder.tensor("d.mlp.product", builder.size.stream_bytes());
    const Value dense =
        normed("post_feedforward_layernorm_1",
               DenseBranch{builder, names, mlp, "mlp"}.build(opened, of_dense, false));
    const OperatorPlace second{names.prefix + "pre_feedforward_layernorm_2", "ln2_experts",
                               builder.layer_index};
    const Value tokens = norm(builder, second, norm_parameters(builder, second.name), x, through);
    const int of_experts = builder.tensor("d.experts.product", builder.size.stream_bytes());
    const Value routed =
        normed("post_feedforward_layernorm_2", expert_branch(builder, experts, tokens, of_experts));
    return add_branches(builder, {names.prefix + names.mlp, "experts.add", builder.layer_index},
                        routed, dense);
}

}  // namespace

Branch mlp_branch(GraphBuilder& builder, Value x, PartGradients gradients) {
    const LayerNames names = layer_names(builder.model(), builder.layer_index);
    const auto at = [&](const std::string& name, const char* kernel) {
        return OperatorPlace{names.prefix + name, kernel, builder.layer_index};
    };
    const std::size_t first = builder.next_operator();
    const Value opened = builder.layer().one_norm
                             ? *builder.opened
                             : open_branch(builder, at(names.norm2, "ln2"), x, gradients.through);
    builder.mark(first, Module::MlpNorm);
    const std::size_t after_norm = builder.next_operator();
    const OperatorPlace residual_place = at(names.mlp, "mlp.residual");
    const BranchEnd end(builder, at(names.norm2_after, "ln2_after"),
                        branch_gradient(builder, residual_place, gradients.y));
    const auto* experts = builder.layer().as<Experts>();
    if (experts != nullptr && experts->beside_ffn)
        return {residual_place,
                end.close(both_branches(builder, names, x, opened, gradients.through,
                                        end.product_gradient)),
                false};
    if (experts == nullptr) {
        const DenseMlp& mlp = std::get<DenseMlp>(builder.layer().mlp);
        const Value product =
            DenseBranch{builder, names, mlp, "mlp"}.build(opened, end.product_gradient, false);
        // The norm is fused with the first product, and checkpointed with it.
        builder.mark(builder.layer().norms == NormPosition::After ? after_norm : first,
                     Module::Mlp);
        return {residual_place, end.close(product), mlp.bias};
    }
    if (builder.layer().norms != NormPosition::After) builder.mark(first, Module::LayerNorm);
    std::optional<Value> shared;
    if (experts->shared_ffn)
        shared = shared_branch(builder, names, *experts, opened, end.product_gradient);
    builder.mark(after_norm, Module::SharedExperts);
    Value branch = expert_branch(builder, *experts, opened, end.product_gradient);
    if (shared) branch = add_branches(builder, at(names.mlp, "experts.add"), branch, *shared);
    builder.mark(after_norm, Module::Moe);
    return {residual_place, end.close(branch), false};
}

}  // namespace debubble::models
