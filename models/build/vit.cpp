#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

/// Patches in, classes out: Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words".
namespace debubble::models {

Value patch_embedding(GraphBuilder& builder, int stream_gradient) {
    const Architecture& model = builder.model();
    const Sizes& size = builder.size;
    const std::int64_t side = model.patch_size.value_or(16);
    const std::int64_t channels = model.channels.value_or(3);
    const std::int64_t pixels = channels * side * side;
    const std::int64_t patches = size.samples * (model.max_positions - 1);
    const StageNames names = stage_names(model);
    // The convolution with stride = kernel is a product over the pixels of each patch.
    const int image = builder.tensor("embedding.patches", size.element * patches * pixels);
    const int class_token =
        builder.whole_parameter("vit.embeddings.cls_token", {1, 1, model.hidden});
    const int positions =
        builder.whole_parameter(names.position_embedding, {1, model.max_positions, model.hidden});
    const LinearParameters projection = {
        {builder.whole_parameter(names.token_embedding + ".weight",
                                 {model.hidden, channels, side, side})},
        {builder.whole_parameter(names.token_embedding + ".bias", {model.hidden}, Initial::Zeros)}};
    const LinearShape shape{pixels, model.hidden, Sharding::Replicated, true, false, patches};
    const Value patch = linear(builder, {names.token_embedding, "embedding.patch", {}}, shape,
                               projection, {image, image});
    Operator& product = builder.graph.operators.back();
    product.roles = op::PatchEmbedding{std::get<op::Linear>(std::move(product.roles))};
    const std::int64_t bytes = size.stream_bytes();
    const Value out{builder.tensor("embedding.sum", bytes), stream_gradient};
    Operator op = start({names.position_embedding, "embedding.positions", {}});
    op.inputs = {patch.tensor};
    op.parameters = {class_token, positions};
    op.forward = {moves("embedding.positions", {}, 2 * bytes, bytes)};
    op.backward_input = {moves("embedding.positions.dx", {}, bytes, bytes)};
    op.backward_weight = {moves("embedding.positions.dw", {}, bytes, 0)};
    op.forward_uses = {patch.tensor, out.tensor};
    op.backward_input_uses = {stream_gradient, patch.gradient};
    op.backward_weight_uses = {stream_gradient};
    op::ClassToken roles{patch, out, class_token, positions, {}};
    const std::int64_t mask = builder.masks() ? bytes / size.element : 0;
    if (builder.drops()) {
        op.forward.push_back(moves("embedding.dropout", {}, bytes, bytes + mask));
        op.backward_input.push_back(moves("embedding.dropout.dx", {}, bytes + mask, bytes));
    }
    if (builder.masks()) {
        roles.mask = builder.tensor("embedding.mask", mask);
        op.saved = {*roles.mask};
        op.forward_uses.push_back(*roles.mask);
        op.backward_input_uses.push_back(*roles.mask);
    }
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return out;
}

void classifier(GraphBuilder& builder, Value x) {
    const Architecture& model = builder.model();
    const Sizes& size = builder.size;
    const StageNames names = stage_names(model);
    const Value normed = norm(builder, {names.final_norm, "ln_f", {}},
                              norm_parameters(builder, names.final_norm), x, {});
    const std::int64_t row_bytes = size.element * size.samples * model.hidden;
    const Value first{builder.tensor("head.class_token", row_bytes),
                      builder.tensor("d.head.class_token", row_bytes)};
    Operator pick = start({"class_token", "head.class_token", {}});
    pick.roles = op::PickClassToken{normed, first};
    pick.inputs = {normed.tensor};
    pick.forward = {moves("head.class_token", {}, row_bytes, row_bytes)};
    pick.forward_uses = {normed.tensor, first.tensor};
    pick.backward_input = {moves("head.class_token.dx", {}, row_bytes, size.stream_bytes())};
    pick.backward_input_uses = {first.gradient, normed.gradient};
    builder.graph.operators.push_back(std::move(pick));
    const LinearParameters parameters = {
        {builder.whole_parameter(names.head + ".weight", {model.vocab, model.hidden})},
        {builder.whole_parameter(names.head + ".bias", {model.vocab}, Initial::Zeros)}};
    const LinearShape shape{model.hidden, model.vocab, Sharding::Replicated,
                            true,         true,        size.samples};
    const Value logits = linear(builder, {names.head, "head", {}}, shape, parameters, first);
    const std::int64_t entries = size.samples * model.vocab;
    Operator loss = start({"loss", "loss", {}});
    loss.inputs = {logits.tensor};
    op::Loss roles{logits};
    roles.softmax = builder.tensor("loss.softmax", 4 * entries);
    roles.softmax_type = DataType::Fp32;
    roles.rows = size.samples;
    roles.columns = model.vocab;
    loss.roles = roles;
    loss.saved = {roles.softmax};
    loss.forward = {moves("loss", {}, size.element * entries, 4 * entries)};
    loss.backward_input = {moves("loss.dx", {}, 4 * entries, size.element * entries)};
    loss.forward_uses = {logits.tensor, roles.softmax};
    loss.backward_input_uses = {roles.softmax, logits.gradient};
    builder.graph.operators.push_back(std::move(loss));
}

}  // namespace debubble::models
