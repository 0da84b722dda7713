#include "models/graph_builder.h"
#include "models/layer_names.h"

namespace debubble::models {

Value activate(GraphBuilder& builder, const OperatorPlace& place, Value wide, std::int64_t rows,
               std::int64_t columns) {
    const Sizes& size = builder.size;
    const std::int64_t bytes = size.element * rows * columns;
    const bool in_place =
        builder.how().kernels.activation_gradient_in_place && !builder.model().gated();
    const int tensor = builder.tensor(place.kernel + ".out", bytes);
    const Value out{tensor,
                    in_place ? wide.gradient : builder.tensor("d." + place.kernel + ".out", bytes),
                    wide.cut};
    op::Activation roles{builder.model().activation, wide, out, rows, columns};
    roles.of_experts = builder.model().experts > 0;
    Operator op = start(place);
    op.inputs = {wide.tensor};
    op.saved = {wide.tensor};
    op.forward_uses = {wide.tensor};
    op.forward = {moves(place.kernel, place.layer, size.gates * bytes, bytes)};
    op.backward_input = {
        moves(place.kernel + ".dx", place.layer, (1 + size.gates) * bytes, size.gates * bytes)};
    const bool biased = builder.model().linear_bias;
    if (!builder.how().kernels.fused_bias_activation && biased) {
        op.forward.push_back(
            moves(place.kernel + ".bias", place.layer, size.gates * bytes, size.gates * bytes));
    }
    if (!builder.how().kernels.fused_bias_activation && builder.model().gated()) {
        // silu(gate) is a tensor of its own, kept for the product's backward
        roles.silu = builder.tensor(place.kernel + ".silu", bytes);
        op.saved.push_back(*roles.silu);
        op.forward_uses.push_back(*roles.silu);
        op.forward.push_back(moves(place.kernel + ".silu", place.layer, bytes, bytes));
        op.backward_input.push_back(
            moves(place.kernel + ".silu.dx", place.layer, 2 * bytes, 2 * bytes));
    }
    op.forward_uses.push_back(out.tensor);
    op.backward_input_uses = {out.gradient};
    op.backward_input_uses.insert(op.backward_input_uses.end(), op.saved.begin(), op.saved.end());
    if (!in_place) op.backward_input_uses.push_back(wide.gradient);
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return out;
}

Value mlp_part(GraphBuilder& builder, int layer, Value x, int gradient) {
    const Sizes& size = builder.size;
    const LayerNames names = layer_names(builder.model(), layer);
    const auto at = [&](const std::string& name, const char* kernel) {
        return OperatorPlace{names.prefix + name, kernel, layer};
    };
    const bool bias = builder.model().linear_bias;
    const Value normed = norm(builder, at(names.norm2, "ln2"),
                              norm_parameters(builder, names.prefix + names.norm2), x, gradient);
    const OperatorPlace residual_place = at(names.mlp, "mlp.residual");
    if (builder.model().experts > 0) {
        const Value branch = expert_branch(builder, layer, normed,
                                           branch_gradient(builder, residual_place, gradient));
        return residual(builder, residual_place, x, branch, gradient);
    }
    const LinearParameters in_weights = fc1_parameters(builder, names);
    const Sharding in_cut = builder.sharding_of(in_weights);
    builder.cut_ffn(in_cut == Sharding::Column);
    const LinearShape in_shape{builder.part(in_cut == Sharding::Row, size.hidden, "hidden columns"),
                               size.gates * size.ffn, in_cut, bias};
    const Value wide = linear(builder, at(names.fc1, "mlp.fc1"), in_shape, in_weights, normed);
    const Value active = activate(builder, at(names.mlp, "mlp.act"), wide, size.tokens, size.ffn);
    const LinearParameters out_weights = fc2_parameters(builder, names);
    const Sharding out_cut = builder.sharding_of(out_weights);
    const LinearShape out_shape{
        builder.part(out_cut == Sharding::Row, builder.model().ffn, "columns of the MLP"),
        builder.part(out_cut == Sharding::Column, size.hidden, "hidden columns"), out_cut, bias};
    const Value branch =
        linear_to_stream(builder, at(names.fc2, "mlp.fc2"), out_shape, out_weights, active,
                         branch_gradient(builder, residual_place, gradient));
    return residual(builder, residual_place, x, branch, gradient);
}

}  // namespace debubble::models
