#include "models/build/recurrent/recurrent.h"

/// Lightning attention (Qin et al. 2024, arXiv:2401.04658) as MiniMax-Text-01 has it
/// (arXiv:2501.08313, transformers' modeling_minimax.py): one product into queries, keys and
/// values, SiLU, blocks of tokens whose states decay by a fixed factor of each head, and a norm of
/// all heads' columns times an output gate. Heads are cut by tensor parallelism.
namespace debubble::models {

namespace {

using PlannedKind = op::Planned::Kind;

struct Lightning {
    GraphBuilder& builder;
    const LayerNames& names;
    const DeltaNet& whole;
    Recurrence rank = recurrence(builder, whole.chunk);
    std::int64_t heads = share(builder, rank, whole.value_heads, "heads of linear attention");
    std::int64_t width = heads * whole.key_dim;

    std::string name(const char* parameter) const {
        return names.prefix + names.attention + parameter;
    }
    OperatorPlace at(const char* operation, const char* kernel) const {
        return {name(operation), kernel, builder.layer_index};
    }
    std::int64_t bytes(std::int64_t columns) const {
        return builder.size.element * rank.tokens() * columns;
    }
    Value value(const std::string& kernel, std::int64_t columns) const {
        return {builder.tensor(kernel + ".out", bytes(columns)),
                builder.tensor("d." + kernel + ".out", bytes(columns)), builder.size.tensor > 1};
    }
    Kernel copies(const char* kernel, std::int64_t read, std::int64_t written) const {
        return moves(kernel, builder.layer_index, bytes(read), bytes(written));
    }
    Value product(const char* weight, const char* kernel, std::int64_t parts, Value x,
                  bool adds) const;
    Value activated(Value x) const;
    Value mixed(Value x) const;
    Kernel block(const char* kernel, std::int64_t m, std::int64_t n, std::int64_t k) const {
        return gemm(builder, kernel, builder.layer_index, {rank.chunks() * heads, m, n, k, {}});
    }
    Kernel in_turn(const char* kernel) const {
        return gemm(builder, kernel, builder.layer_index,
                    {rank.samples * heads, whole.key_dim, whole.value_dim, rank.length, {}});
    }
};

/// A product of the hidden state into so many values as wide as all heads.
Value Lightning::product(const char* weight, const char* kernel, std::int64_t parts, Value x,
                         bool adds) const {
    const std::int64_t hidden = builder.size.hidden;
    const int index =
        cut_by_heads(builder, name(weight) + ".weight", {parts * whole.key_width(), hidden});
    LinearShape shape{hidden, parts * width, Sharding::Column};
    shape.adds_gradient = adds;
    return linear(builder, at(weight, kernel), shape, {{index}, {}}, x);
}

Value Lightning::activated(Value x) const {
    const Value y = value("lightning.heads", 3 * width);
    PlannedParts parts{PlannedKind::Copy, {x}, {y}};
    parts.saved = {x.tensor};
    parts.forward = {copies("lightning.silu", 3 * width, 3 * width)};
    parts.backward = {copies("lightning.silu.dx", 6 * width, 3 * width)};
    add_planned(builder, at(".act", "lightning.silu"), std::move(parts));
    return y;
}

/// Of a block [C] scores and values, what the state adds, and the state. A backward has two
/// products of the size of each, after scores and states are made again.
Value Lightning::mixed(Value x) const {
    const std::int64_t c = rank.chunk;
    const std::int64_t k = whole.key_dim;
    const std::int64_t v = whole.value_dim;
    const Value y = value("lightning.mix", width);
    const std::int64_t states = builder.size.element * rank.chunks() * heads * k * v;
    PlannedParts parts{PlannedKind::FixedDecay, {x}, {y}};
    parts.saved = {x.tensor};
    parts.scratch = {builder.scratch("lightning.states", states)};
    parts.scratch_back = {builder.scratch("lightning.states.again", states),
                          builder.scratch("d.lightning.states", states)};
    parts.forward = {block("lightning.scores", c, c, k), block("lightning.inside", c, v, c),
                     block("lightning.across", c, v, k), in_turn("lightning.states")};
    parts.backward = {block("lightning.scores.again", c, c, k), in_turn("lightning.states.again")};
    for (const Kernel& kernel : parts.forward) {
        parts.backward.push_back(kernel);
        parts.backward.push_back(kernel);
    }
    Operator& op = add_planned(builder, at("", "lightning.mix"), std::move(parts));
    set_pace(builder, op);
    return y;
}

}  // namespace

Value lightning_context(GraphBuilder& builder, const LayerNames& names, const DeltaNet& net,
                        Value normed) {
    if (builder.how().context > 1)
        builder.refuse(
            "Lightning attention does not support context parallelism: parallel.context must be 1");
    const Lightning layer{builder, names, net};
    const Value projected = layer.product(".qkv_proj", "lightning.in", 3, normed, false);
    const Value gate = layer.product(".output_gate", "lightning.gate", 1, normed, true);
    const Value out = layer.mixed(layer.activated(projected));
    const int gain =
        cut_by_heads(builder, layer.name(".norm.weight"), {net.value_width()}, Initial::Ones);
    return grouped_norm(builder, layer.at(".norm", "lightning.norm"),
                        {layer.rank.tokens(), layer.width, 1}, gain, out, gate);
}

}  // namespace debubble::models
