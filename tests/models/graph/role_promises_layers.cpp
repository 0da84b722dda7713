#include "tests/models/graph/role_promises.h"

/// Norms, products, nonlinearities and sums.
namespace debubble::models {

void Promise::linear(const op::Linear& it, const char* weight_pass) {
    const std::int64_t wide = e * it.rows * it.inputs, made = e * it.rows * it.outputs;
    const bool kept = it.gathered && it.gathered == it.gathered_again;
    role(it.x, it.gathers_x ? wide / how.tensor : wide, "f");
    if (!kept) role(it.x, it.gathers_x ? wide / how.tensor : wide, weight_pass);
    role(it.x_gradient, it.gathers_x ? wide / how.tensor : wide, "i");
    if (it.x_gradient) reads[it.x] = *it.x_gradient;
    role(it.gathered, wide, "f");
    role(it.gathered_again, wide, weight_pass);
    role(it.x_gradient_partial, wide, "i");
    role(it.x_gradient_part, it.gathers_x ? wide / how.tensor : wide, "i");
    role(it.partial, made, "f");
    role(it.y_gradient_gathered, made, "i");
    role(it.y_gradient_gathered, made, weight_pass);
    std::int64_t weights = 0;
    for (const int weight : it.weights) weights += table_bytes(weight);
    EXPECT_EQ(weights, e * it.inputs * it.outputs);
    role(it.weight_gradient, weights, weight_pass);
}

void Promise::linear_result(const op::Linear& it, std::int64_t bytes, const char* weight_pass) {
    if (it.partial) bytes /= how.tensor;
    make(it.y, bytes, "f", "i");
    if (!it.y_gradient_gathered) role(it.y.gradient, bytes, weight_pass);
}

void Promise::operator()(const op::Norm& it) {
    const bool layer_norm = it.function == Norm::LayerNorm;
    const std::int64_t rows = stream / model.hidden;
    const std::int64_t columns = graph.parameters[it.gain].elements();
    std::int64_t x_columns = columns;
    if (op.layer && keys().latent && columns == keys().latent->key_rank)
        x_columns += keys().latent->rope_dim;
    read(it.x, e * rows * x_columns, "fi", "i");
    make(it.y, e * rows * columns, "f", "i");
    role(it.statistics, it.normalised ? e * rows : rows * (layer_norm ? 8 : 4), "fi");
    role(it.normalised, e * rows * columns, "fi");
    role(it.through, e * stream, "i");
    role(it.x_gradient_part, e * stream, "i");
    EXPECT_EQ(it.shift.has_value(), layer_norm);
    EXPECT_EQ(it.x_gradient_part.has_value(), it.through == it.x.gradient);
}

void Promise::operator()(const op::Linear& it) {
    linear(it, "w");
    linear_result(it, e * it.rows * it.outputs, "w");
}

void Promise::operator()(const op::ExpertProducts& it) {
    read(it.x, e * it.rows * it.inputs, "fw", "i");
    make(it.y, e * it.rows * it.outputs, "f", "iw");
    role(it.weight_gradient, e * it.experts * it.inputs * it.outputs, "w");
    std::int64_t weights = 0;
    for (const int weight : it.weights) weights += table_bytes(weight);
    EXPECT_EQ(weights, e * it.experts * it.inputs * it.outputs);
    std::int64_t biases = 0;
    for (const int bias : it.biases) biases += table_bytes(bias);
    EXPECT_EQ(biases, keys().linear_bias ? e * it.experts * it.outputs : 0);
}

void Promise::operator()(const op::OpenBranch& it) {
    role(it.x.tensor, e * stream, "f");
    role(it.x.gradient, e * stream, "i");
    role(it.through, e * stream, "i");
    role(it.y.gradient, e * stream, "i");
    EXPECT_EQ(it.x.tensor, it.y.tensor);
    EXPECT_NE(it.x.gradient, it.y.gradient);
    reads[it.x.tensor] = it.x.gradient;
    branches[it.y.tensor] = it.y.gradient;
}

void Promise::operator()(const op::AddBranches& it) {
    read(it.a, e * stream, "f", "");
    read(it.b, e * stream, "f", "");
    make(it.y, e * stream, "f", "");
}

void Promise::operator()(const op::Activation& it) {
    const std::int64_t bytes = e * it.rows * it.columns;
    read(it.x, (it.gated() ? 2 : 1) * bytes, "fi", "i");
    make(it.y, bytes, "f", "i");
    role(it.silu, bytes, "fi");
    EXPECT_EQ(it.function, keys().activation);
    const bool shared = op.name.find("shared_expert") != std::string::npos;
    const bool beside = keys().beside_ffn > 0 && op.forward.front().name.starts_with("mlp.");
    EXPECT_EQ(it.of_experts, keys().experts > 0 && !shared && !beside);
    if (!it.weights) return;
    role(it.weights->rows, 4 * it.rows, "fi");
    role(it.weights->gradient, 4 * routed * keys().experts, "i");
}

void Promise::operator()(const op::Residual& it) {
    role(it.x, e * stream, "f");
    role(it.branch, e * stream, "f");
    role(it.y, e * stream, "f");
    role(it.mask, stream, "fi");
    role(it.dropped, e * stream, "f");
    role(it.gradient, e * stream, drops ? "i" : "");
    role(it.branch_gradient, e * stream, drops ? "i" : "");
    EXPECT_EQ(it.gradient != it.branch_gradient, drops);
    reads[it.branch] = it.branch_gradient;
    makes[it.y] = it.gradient;
}

void Promise::operator()(const op::GatherColumns& it) {
    pass_on(it.x, e * tokens * it.columns / how.tensor, it.y, e * tokens * it.columns);
}

void Promise::operator()(const op::SliceColumns& it) {
    pass_on(it.x, e * tokens * it.columns, it.y, e * tokens * it.columns / how.tensor);
}

void Promise::operator()(const op::ExchangeHeads& it) {
    const std::int64_t bytes = graph.tensors[it.sorted].bytes.count;
    pass_on(it.x, bytes, it.y, bytes);
    role(it.sorted, bytes, "f");
    role(it.sorted_gradient, bytes, "i");
}

void Promise::operator()(const op::CopyContext& it) {
    const std::int64_t bytes = e * tokens * keys().heads / how.tensor *
                               std::get<Attention>(model.layer_at(*op.layer).mixer).value_dim;
    pass_on(it.x, bytes, it.y, bytes);
}

}  // namespace debubble::models
