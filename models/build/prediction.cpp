#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

/// Multi-token prediction (DeepSeek-V3, arXiv:2412.19437, section 2.2) in the order of
/// Megatron-Core's multi_token_prediction.py: the normed value of what predicts the token before
/// and the embedding of that token, each normed, are joined and projected to the hidden width; a
/// layer like the last, a norm, and the network's own head and loss follow. A stage other than the
/// first has a copy of the embedding table.
namespace debubble::models {

namespace {

struct Prediction {
    GraphBuilder& builder;
    int layer;  ///< of its index: those after the network's last
    std::string prefix = layer_names(builder.model(), layer).prefix;

    OperatorPlace at(const char* name, const char* kernel) const {
        return {prefix + name, kernel, layer};
    }
    Value normed(const char* name, const char* kernel, Value x, std::optional<int> through) const {
        return norm(builder, at(name, kernel), norm_parameters(builder, prefix + name), x, through);
    }
    Value joined(Value a, Value b) const;
    Value projected(Value x, int gradient) const;
    Value own_tokens(Value x, int gradient) const;
};

Value Prediction::joined(Value a, Value b) const {
    const std::int64_t bytes = 2 * builder.size.stream_bytes();
    const Value y{builder.tensor("mtp.concat.out", bytes),
                  builder.tensor("d.mtp.concat.out", bytes)};
    Operator op = start(at("concat", "mtp.concat"));
    op.inputs = {a.tensor, b.tensor};
    op.roles = op::Concat{a, b, y};
    op.forward = {moves("mtp.concat", layer, bytes, bytes)};
    op.forward_uses = {a.tensor, b.tensor, y.tensor};
    op.backward_input = {moves("mtp.concat.dx", layer, bytes, bytes)};
    op.backward_input_uses = {y.gradient, a.gradient, b.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

/// The product is cut by its outputs, which are then gathered.
Value Prediction::projected(Value x, int gradient) const {
    const std::int64_t hidden = builder.size.hidden;
    const std::string name = prefix + "eh_proj.weight";
    const Sharding cut = builder.sharding_of(name, {Sharding::Column, Sharding::Replicated});
    const int weight = builder.parameter({name, {hidden, 2 * hidden}, cut, 0, 1, {}});
    const LinearShape shape{2 * hidden,
                            builder.part(cut == Sharding::Column, hidden, "hidden columns"), cut};
    const OperatorPlace place = at("eh_proj", "mtp.eh_proj");
    if (!builder.size.scattered)
        return linear_to_stream(builder, place, shape, {{weight}, {}}, x, gradient);
    const Value y = linear(builder, place, shape, {{weight}, {}}, x);
    return own_tokens(gathered(builder, at("eh_proj", "mtp.eh_proj.out"), y), gradient);
}

Value Prediction::own_tokens(Value x, int gradient) const {
    const std::int64_t bytes = builder.size.stream_bytes();
    const Value y{builder.tensor("mtp.scatter.out", bytes), gradient};
    Operator op = start(at("scatter", "mtp.scatter"), x);
    op.roles = op::ScatterTokens{x, y};
    op.forward = {moves("mtp.scatter", layer, bytes, bytes)};
    op.forward_uses = {x.tensor, y.tensor};
    op.backward_input = collective(builder, "mtp.scatter.dx.gather", layer,
                                   Collective::Kind::AllGather, builder.size.full_stream_bytes());
    op.backward_input_uses = {gradient, x.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

/// The stage's table of embeddings: the embedding's own, the head's where they are one, or a copy.
int table_of(GraphBuilder& builder, std::optional<int> head) {
    const Architecture& model = builder.model();
    if (builder.graph.content.embedding) return 0;
    if (model.tied_embedding && head) return *head;
    const std::string name = stage_names(model).token_embedding;
    const std::vector<Parameter>& known = builder.graph.parameters;
    for (std::size_t index = 0; index < known.size(); ++index)
        if (known[index].name == name) return static_cast<int>(index);
    const Sharding cut =
        builder.sharding_of(name, {Sharding::Vocabulary, Sharding::Column, Sharding::Replicated});
    return builder.parameter(
        {name, {model.vocab, model.hidden}, cut, cut == Sharding::Column ? 1 : 0, 1, name});
}

}  // namespace

std::vector<Value> predictions_ahead(GraphBuilder& builder, std::optional<int> head, Value normed) {
    std::vector<Value> values{normed};
    for (int ahead = 1; ahead <= builder.model().mtp_layers; ++ahead) {
        const Value before = values.back();
        const Prediction part{builder, builder.model().layers.count() + ahead - 1};
        const Value token = embedding_ahead(builder, table_of(builder, head), ahead);
        const Value of_token = part.normed("enorm", "mtp.enorm", token, {});
        const Value of_hidden = part.normed("hnorm", "mtp.hnorm", before, before.gradient);
        const int stream = builder.tensor("d.mtp.stream", builder.size.stream_bytes());
        const Value x = part.projected(part.joined(of_token, of_hidden), stream);
        const Value y = build_layer(builder, part.layer, x, {stream, nullptr});
        values.push_back(part.normed("shared_head.norm", "mtp.norm", y, {}));
    }
    return values;
}

Value stacked(GraphBuilder& builder, const std::vector<Value>& parts) {
    const auto bytes = static_cast<std::int64_t>(parts.size()) * builder.size.stream_bytes();
    const Value all{builder.tensor("mtp.streams", bytes), builder.tensor("d.output", bytes)};
    Operator op = start({"mtp.streams", "mtp.streams", {}});
    op::StackStreams roles{{}, all};
    for (const Value& part : parts) {
        roles.parts.push_back(part);
        op.inputs.push_back(part.tensor);
        op.forward_uses.push_back(part.tensor);
    }
    op.forward_uses.push_back(all.tensor);
    op.forward = {moves("mtp.streams", {}, bytes, bytes)};
    op.backward_input = {moves("mtp.streams.dx", {}, bytes, bytes)};
    op.backward_input_uses = {all.gradient};
    for (const Value& part : parts) op.backward_input_uses.push_back(part.gradient);
    op.roles = std::move(roles);
    builder.graph.operators.push_back(std::move(op));
    return all;
}

std::vector<Value> unstacked(GraphBuilder& builder, Value all) {
    const std::int64_t one = builder.size.stream_bytes();
    const std::int64_t bytes = (1 + builder.model().mtp_layers) * one;
    std::vector<Value> parts;
    Operator op = start({"mtp.split", "mtp.split", {}}, all);
    op::SplitStreams roles{all, {}};
    op.forward_uses = {all.tensor};
    for (int i = 0; i <= builder.model().mtp_layers; ++i) {
        parts.push_back({builder.tensor("mtp.stream", one), builder.tensor("d.mtp.stream", one)});
        roles.parts.push_back(parts.back());
        op.forward_uses.push_back(parts.back().tensor);
        op.backward_input_uses.push_back(parts.back().gradient);
    }
    op.backward_input_uses.push_back(all.gradient);
    op.forward = {moves("mtp.split", {}, bytes, bytes)};
    op.backward_input = {moves("mtp.split.dx", {}, bytes, bytes)};
    op.roles = std::move(roles);
    builder.graph.operators.push_back(std::move(op));
    return parts;
}

}  // namespace debubble::models
