#include "tests/models/graph/role_promises.h"

/// Where tokens come in, and what they are compared with.
namespace debubble::models {

void Promise::operator()(const op::TokenEmbedding& it) {
    role(it.tokens, 8 * tokens, "fw");
    const bool cut = it.sharding == Sharding::Column && how.tensor > 1;
    make(it.y, cut ? e * tokens * model.hidden / how.tensor : e * stream, "f", "w");
    role(it.partial, e * tokens * model.hidden, "f");
    role(it.gathered_gradient, e * tokens * model.hidden, "w");
    role(it.table_gradient, table_bytes(it.table), "w");
}

void Promise::operator()(const op::PositionEmbedding& it) {
    role(it.x, e * stream, "f");
    role(it.y, e * stream, "f");
    role(it.gradient, e * stream, drops ? it.table ? "iw" : "i" : "w");
    reads[it.x] = makes[it.y] = it.gradient;
    role(it.mask, stream, "fi");
    if (!it.table) return;
    role(it.table->gradient, table_bytes(it.table->parameter), "w");
    if (!it.table->gathered) return;
    const std::int64_t whole = e * tokens / how.micro_batch * model.hidden;
    role(it.table->gathered->part, whole / how.tensor, "f");
    role(it.table->gathered->whole, whole, "f");
}

void Promise::operator()(const op::PatchEmbedding& it) {
    EXPECT_FALSE(it.product.x_gradient) << "images have none";
    linear(it.product, "w");
    linear_result(it.product, e * it.product.rows * it.product.outputs, "w");
}

void Promise::operator()(const op::ClassToken& it) {
    read(it.patches, e * (stream - how.micro_batch * model.hidden), "f", "i");
    make(it.y, e * stream, "f", "iw");
    role(it.mask, stream, "fi");
    EXPECT_EQ(graph.parameters[it.token].elements(), model.hidden);
    EXPECT_EQ(graph.parameters[it.positions].elements(), model.max_positions * model.hidden);
}

void Promise::operator()(const op::Concat& it) {
    read(it.a, e * stream, "f", "i");
    read(it.b, e * stream, "f", "i");
    make(it.y, 2 * e * stream, "f", "i");
}

void Promise::operator()(const op::ScatterTokens& it) {
    pass_on(it.x, e * tokens * model.hidden, it.y, e * stream);
}

void Promise::operator()(const op::StackStreams& it) {
    for (const op::Value& part : it.parts) read(part, e * stream, "f", "i");
    make(it.all, static_cast<std::int64_t>(it.parts.size()) * e * stream, "f", "i");
}

void Promise::operator()(const op::SplitStreams& it) {
    read(it.all, static_cast<std::int64_t>(it.parts.size()) * e * stream, "f", "i");
    for (const op::Value& part : it.parts) make(part, e * stream, "f", "i");
}

void Promise::operator()(const op::SoftCap& it) {
    const std::int64_t bytes = e * it.rows * it.columns;
    read(it.x, bytes, "fi", "i");
    make(it.y, bytes, "f", "i");
    EXPECT_EQ(it.cap, model.logit_softcap);
}

void Promise::operator()(const op::Cast& it) {
    read(it.x, e * it.elements, "f", "i");
    make(it.y, size_of(it.type) * it.elements, "f", "i");
}

void Promise::operator()(const op::PickClassToken& it) {
    pass_on(it.x, e * stream, it.y, e * how.micro_batch * model.hidden);
}

void Promise::operator()(const op::Loss& it) {
    const std::int64_t entries = it.rows * it.columns;
    const bool widened = it.narrow.has_value();
    const std::int64_t width = widened ? 4 : e;
    read(it.logits, width * entries, "f", "i");
    role(it.softmax, size_of(it.softmax_type) * entries, "fi");
    role(it.shifted, 4 * entries, "f");
    role(it.softmax_gradient, width * entries, "i");
    role(it.narrow, e * entries, "f");
    role(it.log_sum_exp, 4 * it.rows, "fi");
    role(it.unscaled, 4 * entries, "i");
    if (it.softmax_gradient && !widened) role(it.logits.tensor, e * entries, "i");
    const bool by_inputs = model.tied_embedding &&
                           std::ranges::any_of(model.sharding, [&](const ShardingOverride& line) {
                               return line.matches(stage_names(model).token_embedding);
                           });
    const bool whole = model.family == Family::Vit || how.kernels.loss == LossKernel::EagerPyTorch;
    EXPECT_EQ(it.cut, how.tensor > 1 && !whole && !by_inputs);
}

void Promise::operator()(const op::ChunkedLoss& it) {
    EXPECT_EQ(it.rows, std::min<std::int64_t>(1024, tokens));
    linear(it.head, "i");
    linear_result(it.head, e * it.rows * it.head.outputs, "i");
}

}  // namespace debubble::models
