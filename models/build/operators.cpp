#include <utility>

#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

namespace debubble::models {

Operator start(const OperatorPlace& place) {
    Operator op;
    op.name = place.name;
    op.layer = place.layer;
    return op;
}

Operator start(const OperatorPlace& place, Value x) {
    Operator op = start(place);
    op.inputs = {x.tensor};
    return op;
}

Kernel gemm(const GraphBuilder& builder, const std::string& name, std::optional<int> layer,
            Gemm shape) {
    shape.element_bytes = static_cast<int>(builder.size.element);
    return {name, layer, shape};
}

Kernel moves(const std::string& name, std::optional<int> layer, std::int64_t read,
             std::int64_t written) {
    return {name, layer, Traffic{Bytes{read}, Bytes{written}}};
}

std::vector<Kernel> collective(const GraphBuilder& builder, const std::string& name,
                               std::optional<int> layer, Collective::Kind kind,
                               std::int64_t bytes) {
    if (builder.size.tensor == 1) return {};
    return {{name, layer, Collective{kind, Collective::Group::Tensor, Bytes{bytes}, 0}}};
}

void append(std::vector<Kernel>& kernels, std::vector<Kernel> more) {
    for (Kernel& kernel : more) kernels.push_back(std::move(kernel));
}

void add_pieces(GraphBuilder& builder, std::vector<int>& uses, const std::string& name,
                std::int64_t bytes, bool placed) {
    const Execution& how = builder.how();
    if (!how.copies_along_sequence || !builder.size.scattered || builder.size.tensor == 1) return;
    if (placed && how.places_pieces) return;
    uses.push_back(builder.scratch(name + ".pieces", bytes));
}

namespace {

/// A norm of `columns` of every token of the stream.
Value norm_over(GraphBuilder& builder, const OperatorPlace& place, std::vector<int> parameters,
                Value x, std::optional<int> through, Norm function, std::int64_t columns,
                std::optional<int> y_gradient = {}) {
    const std::int64_t tokens = builder.size.stream_tokens;
    const std::int64_t bytes = builder.size.element * tokens * columns;
    const bool layer_norm = function == Norm::LayerNorm;
    const int made = builder.tensor(place.kernel + ".out", bytes);
    const Value y{made,
                  y_gradient ? *y_gradient : builder.tensor("d." + place.kernel + ".out", bytes)};
    Operator op = start(place, x);
    op::Norm roles{function, x, y, parameters.front()};
    if (layer_norm && parameters.size() > 1) roles.shift = parameters.back();
    roles.through = through;
    op.parameters = std::move(parameters);
    op.forward = {moves(place.kernel, place.layer, bytes, bytes)};
    op.forward_uses = {x.tensor, y.tensor};
    op.saved = {x.tensor};
    op.backward_input_uses = {y.gradient};
    // PyTorch's layer norm has always been one kernel; its RMSNorm is six, in fp32.
    if (builder.how().kernels.fused_norm || layer_norm) {
        roles.statistics =
            builder.tensor(place.kernel + ".statistics", tokens * (layer_norm ? 8 : 4));
        op.saved.push_back(roles.statistics);
    } else {  // square, mean, inverse root, two products; x / rms kept for the gain's gradient
        roles.statistics =
            builder.tensor(place.kernel + ".statistics", builder.size.element * tokens);
        roles.normalised = builder.tensor(place.kernel + ".normalised", bytes);
        op.saved.push_back(roles.statistics);
        op.saved.push_back(*roles.normalised);
        const std::int64_t wide = 4 * tokens * columns;
        for (const char* part : {".cast", ".square", ".mean", ".scale", ".narrow"})
            op.forward.push_back(
                moves(place.kernel + part, place.layer, wide, part[1] == 'm' ? 0 : wide));
    }
    for (std::size_t i = 1; i < op.saved.size(); ++i) op.forward_uses.push_back(op.saved[i]);
    // dx reads dy and x; the gain's and bias's gradients read them once more.
    op.backward_input = {moves(place.kernel + ".dx", place.layer, 2 * bytes, bytes)};
    if (!builder.how().lora)
        op.backward_input.push_back(moves(place.kernel + ".dw", place.layer, 2 * bytes, 0));
    if (roles.normalised) {  // the same kernels' backwards, which read and write fp32
        const std::int64_t wide = 4 * tokens * columns;
        for (const char* part : {".narrow.dx", ".scale.dx", ".scale.dr", ".square.dx", ".sum.dx"})
            op.backward_input.push_back(moves(place.kernel + part, place.layer, wide, wide));
    }
    for (const int saved : op.saved) op.backward_input_uses.push_back(saved);
    op.backward_input_uses.push_back(x.gradient);
    if (through) {
        op.backward_input.push_back(
            moves(place.kernel + ".accumulate", place.layer, 2 * bytes, bytes));
        if (*through == x.gradient)
            roles.x_gradient_part = builder.scratch("d." + place.kernel + ".in", bytes);
        op.backward_input_uses.push_back(roles.x_gradient_part.value_or(*through));
    }
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return y;
}

}  // namespace

Value norm(GraphBuilder& builder, const OperatorPlace& place, std::vector<int> parameters, Value x,
           std::optional<int> through) {
    return norm_over(builder, place, std::move(parameters), x, through, builder.model().norm,
                     builder.size.hidden);
}

Value norm_of_columns(GraphBuilder& builder, const OperatorPlace& place, int gain, Value x,
                      std::int64_t columns) {
    return norm_over(builder, place, {gain}, x, {}, Norm::RmsNorm, columns);
}

Value norm_of_branch(GraphBuilder& builder, const OperatorPlace& place, std::vector<int> parameters,
                     Value x, int gradient) {
    return norm_over(builder, place, std::move(parameters), x, {}, builder.model().norm,
                     builder.size.hidden, gradient);
}

Value open_branch(GraphBuilder& builder, const OperatorPlace& place, Value x, int through) {
    // Around the parts of layers with several streams nothing passes (streams.cpp).
    if (builder.model().mixes_streams())
        return norm(builder, place, norm_parameters(builder, place.name), x, {});
    if (builder.layer().norms != NormPosition::After)
        return norm(builder, place, norm_parameters(builder, place.name), x, through);
    const std::int64_t bytes = builder.size.stream_bytes();
    const Value y{x.tensor, builder.tensor("d." + place.kernel + ".branch", bytes)};
    Operator op = start({"", place.kernel + ".branch", place.layer}, x);
    op.name = place.name + ".branch";
    op.roles = op::OpenBranch{x, y, through};
    op.forward_uses = {x.tensor};
    op.backward_input = {moves(place.kernel + ".branch.accumulate", place.layer, 2 * bytes, bytes)};
    op.backward_input_uses = {y.gradient, through};
    if (through != x.gradient) op.backward_input_uses.push_back(x.gradient);
    builder.graph.operators.push_back(std::move(op));
    return y;
}

BranchEnd::BranchEnd(GraphBuilder& graph_builder, OperatorPlace of_norm, int branch_gradient)
    : builder(graph_builder),
      norm_place(std::move(of_norm)),
      gradient(branch_gradient),
      product_gradient(branch_gradient) {
    if (builder.layer().norms != NormPosition::Before)
        product_gradient =
            builder.tensor("d." + norm_place.kernel + ".in", builder.size.stream_bytes());
}

Value BranchEnd::close(Value product) const {
    if (product_gradient == gradient) return product;
    return norm_of_branch(builder, norm_place, norm_parameters(builder, norm_place.name), product,
                          gradient);
}

Value add_branches(GraphBuilder& builder, const OperatorPlace& place, Value a, Value b) {
    const std::int64_t bytes = builder.size.stream_bytes();
    const Value y{builder.tensor(place.kernel + ".out", bytes), a.gradient};
    Operator op = start(place);
    op.inputs = {a.tensor, b.tensor};
    op.forward = {moves(place.kernel, place.layer, 2 * bytes, bytes)};
    op.forward_uses = {a.tensor, b.tensor, y.tensor};
    op.roles = op::AddBranches{a, b, y};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

int branch_gradient(GraphBuilder& builder, const OperatorPlace& place, int stream_gradient) {
    if (!builder.drops()) return stream_gradient;
    return builder.tensor("d." + place.kernel + ".branch", builder.size.stream_bytes());
}

Value residual(GraphBuilder& builder, const OperatorPlace& place, Value x, Value branch,
               int gradient, bool biased) {
    const std::int64_t bytes = builder.size.stream_bytes();
    const std::int64_t mask_bytes =
        builder.masks() ? builder.size.stream_tokens * builder.size.hidden : 0;
    const Value y{builder.tensor(place.kernel + ".out", bytes), gradient};
    op::Residual roles{x.tensor, branch.tensor, y.tensor, gradient, branch.gradient, {}, {}};
    Operator op = start(place);
    op.inputs = {x.tensor, branch.tensor};
    op.forward_uses = {branch.tensor, x.tensor, y.tensor};
    if (builder.how().kernels.fused_bias_dropout_add) {
        op.forward = {moves(place.kernel, place.layer, 2 * bytes, bytes + mask_bytes)};
    } else {  // bias, dropout and sum as three kernels, with their results in between
        if (biased) {
            op.forward.push_back(moves(place.kernel + ".bias", place.layer, bytes, bytes));
        }
        if (builder.drops()) {
            op.forward.push_back(
                moves(place.kernel + ".dropout", place.layer, bytes, bytes + mask_bytes));
            roles.dropped = builder.scratch(place.kernel + ".dropped", bytes);
            op.forward_uses.push_back(*roles.dropped);
        }
        op.forward.push_back(moves(place.kernel, place.layer, 2 * bytes, bytes));
    }
    if (builder.drops()) {
        op.backward_input = {moves(place.kernel + ".dx", place.layer, bytes + mask_bytes, bytes)};
        op.backward_input_uses = {gradient, branch.gradient};
    }
    if (builder.masks()) {
        roles.mask = builder.tensor(place.kernel + ".mask", mask_bytes);
        op.saved = {*roles.mask};
        op.forward_uses.push_back(*roles.mask);
        op.backward_input_uses.insert(op.backward_input_uses.begin() + 1, *roles.mask);
    }
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return y;
}

}  // namespace debubble::models
