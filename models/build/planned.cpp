#include <algorithm>

#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

/// Operators that are planned alone, and the gates of Step 3.7 and Kimi K3 that consist of them.
namespace debubble::models {

/// A backward reads the gradients of what was written and what was saved, and writes the gradients
/// of what was read.
Operator& add_planned(GraphBuilder& builder, const OperatorPlace& place, PlannedParts parts) {
    Operator op = start(place);
    op::Planned roles;
    roles.kind = parts.kind;
    for (const Value& value : parts.reads) {
        roles.reads.push_back(value);
        op.inputs.push_back(value.tensor);
        op.forward_uses.push_back(value.tensor);
    }
    for (const int tensor : parts.scratch) op.forward_uses.push_back(tensor);
    for (const Value& value : parts.writes) {
        roles.writes.push_back(value);
        op.forward_uses.push_back(value.tensor);
        if (!parts.backward.empty()) op.backward_input_uses.push_back(value.gradient);
    }
    for (const int tensor : parts.saved) {
        if (std::ranges::find(op.forward_uses, tensor) == op.forward_uses.end())
            op.forward_uses.push_back(tensor);
        op.backward_input_uses.push_back(tensor);
    }
    for (const int tensor : parts.scratch_back) op.backward_input_uses.push_back(tensor);
    if (!parts.backward.empty())
        for (const Value& value : parts.reads) op.backward_input_uses.push_back(value.gradient);
    op.saved = std::move(parts.saved);
    op.parameters = std::move(parts.parameters);
    op.forward = std::move(parts.forward);
    op.backward_input = std::move(parts.backward);
    op.roles = std::move(roles);
    builder.graph.operators.push_back(std::move(op));
    return builder.graph.operators.back();
}

Value gate_heads(GraphBuilder& builder, const LayerNames& names, Value normed, Value context) {
    const Sizes& size = builder.size;
    const OperatorPlace place{names.prefix + names.attention + ".g_proj", "attn.head_gate",
                              builder.layer_index};
    const std::int64_t bytes = size.element * size.tokens * size.context_width;
    const std::int64_t logits = size.element * size.tokens * size.heads;
    const bool cut = size.heads != builder.attention().heads;
    const int weight = builder.parameter({place.name + ".weight",
                                          {builder.attention().heads, size.hidden},
                                          cut ? Sharding::Column : Sharding::Replicated,
                                          0,
                                          1,
                                          {}});
    LinearShape shape{size.hidden, size.heads, cut ? Sharding::Column : Sharding::Replicated};
    shape.adds_gradient = true;
    const Value gate = linear(builder, place, shape, {{weight}, {}}, normed);
    const Value y{builder.tensor("attn.gated.out", bytes),
                  builder.tensor("d.attn.gated.out", bytes), context.cut};
    PlannedParts parts{op::Planned::Kind::HeadGate, {context, gate}, {y}};
    parts.saved = {context.tensor, gate.tensor};
    parts.forward = {moves("attn.gated", place.layer, bytes + logits, bytes)};
    parts.backward = {moves("attn.gated.dx", place.layer, 2 * bytes + logits, bytes + logits)};
    add_planned(builder, {names.prefix + names.attention, "attn.gated", place.layer},
                std::move(parts));
    return y;
}

Value gate_latent(GraphBuilder& builder, const LayerNames& names, Value normed, Value context) {
    const Sizes& size = builder.size;
    const OperatorPlace place{names.prefix + names.attention + ".g_proj", "attn.gate",
                              builder.layer_index};
    const std::int64_t bytes = size.element * size.tokens * size.context_width;
    const int weight =
        builder.parameter({place.name + ".weight",
                           {builder.attention().context_width(), size.hidden},
                           builder.sharding_of(place.name + ".weight", {Sharding::Column}),
                           0,
                           1,
                           {}});
    LinearShape shape{size.hidden, size.context_width, Sharding::Column};
    shape.adds_gradient = true;
    const Value gate = linear(builder, place, shape, {{weight}, {}}, normed);
    const Value y{builder.tensor("attn.gated.out", bytes),
                  builder.tensor("d.attn.gated.out", bytes), context.cut};
    Operator op = start({names.prefix + names.attention, "attn.gated", place.layer});
    op.roles = op::OutputGate{context, gate, y, size.context_width};
    op.inputs = {context.tensor, gate.tensor};
    op.saved = {context.tensor, gate.tensor};
    op.forward = {moves("attn.gated", place.layer, 2 * bytes, bytes)};
    op.forward_uses = {context.tensor, gate.tensor, y.tensor};
    op.backward_input = {moves("attn.gated.dx", place.layer, 3 * bytes, 2 * bytes)};
    op.backward_input_uses = {y.gradient, context.tensor, gate.tensor, context.gradient,
                              gate.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

void add_gathered_copy(GraphBuilder& builder, const OperatorPlace& place, std::vector<Value> inputs,
                       Value y, std::int64_t moved) {
    PlannedParts parts{op::Planned::Kind::Copy, std::move(inputs), {y}};
    parts.forward = {moves(place.kernel, place.layer, moved, moved)};
    parts.backward = {moves(place.kernel + ".dx", place.layer, moved, moved)};
    if (builder.size.scattered)
        append(parts.forward, collective(builder, place.kernel + ".gather", place.layer,
                                         Collective::Kind::AllGather, moved));
    append(parts.backward, collective(builder, place.kernel + ".reduce", place.layer,
                                      builder.size.scattered ? Collective::Kind::ReduceScatter
                                                             : Collective::Kind::AllReduce,
                                      moved));
    add_planned(builder, place, std::move(parts));
}

}  // namespace debubble::models
