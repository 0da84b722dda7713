#include "models/build/recurrent/recurrent.h"

/// Kimi Delta Attention (arXiv:2510.26692) in the order of flash-linear-attention's kernels
/// (fla/ops/kda): products, a convolution of each of queries, keys and values, the chunk rule whose
/// states decay channel by channel, and a norm of each head times an output gate. Heads are cut by
/// tensor parallelism; the first of the two products into decays, and into a narrow gate, is whole
/// on every rank.
namespace debubble::models {

namespace {

using PlannedKind = op::Planned::Kind;

/// KDA's Triton kernels take 4.6 where those of gated delta nets take 2.7 for as many tokens and
/// heads on an H100.
constexpr double kPaceOfChannels = 4.6 / 2.7;

struct ChannelDelta {
    GraphBuilder& builder;
    const LayerNames& names;
    const DeltaNet& whole;
    Recurrence rank = recurrence(builder, whole.chunk);
    std::int64_t heads = share(builder, rank, whole.value_heads, "heads of a delta net");
    std::int64_t width = heads * whole.key_dim;  ///< [P] of this rank

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
        return moves(kernel, builder.layer_index, read, written);
    }
    Value product(const char* weight, const char* kernel, std::int64_t outputs, Value x,
                  std::int64_t inputs, bool adds) const;
    Value narrow(const char* weight, const char* kernel, Value x) const;
    Value projected(Value normed) const;
    Value gate(Value normed) const;
    Value convolved(Value projected) const;
    Value rule(Value convolved, Value projected, Value decay) const;
    std::vector<Kernel> forward() const;
    std::vector<Kernel> backward() const;
};

/// A product whose outputs are cut by heads.
Value ChannelDelta::product(const char* weight, const char* kernel, std::int64_t outputs, Value x,
                            std::int64_t inputs, bool adds) const {
    const int index = cut_by_heads(builder, name(weight) + ".weight", {outputs, inputs});
    LinearShape shape{inputs, outputs / rank.ranks, Sharding::Column};
    shape.adds_gradient = adds;
    return linear(builder, at(weight, kernel), shape, {{index}, {}}, x);
}

/// A product into the narrow width, whole on every rank, of its tokens of the stream.
Value ChannelDelta::narrow(const char* weight, const char* kernel, Value x) const {
    const std::int64_t hidden = builder.size.hidden;
    const int index = builder.whole_parameter(name(weight) + ".weight", {whole.gate_rank, hidden});
    LinearShape shape{hidden, whole.gate_rank, Sharding::Replicated};
    shape.rows = builder.size.stream_tokens;
    shape.adds_gradient = true;
    return linear(builder, at(weight, kernel), shape, {{index}, {}}, x);
}

/// Queries, keys, values and a rate of correction for each head.
Value ChannelDelta::projected(Value normed) const {
    const std::int64_t hidden = builder.size.hidden;
    const std::int64_t all = whole.key_width();
    LinearParameters weights;
    for (const char* one : {".q_proj.weight", ".k_proj.weight", ".v_proj.weight"})
        weights.weights.push_back(cut_by_heads(builder, name(one), {all, hidden}));
    weights.weights.push_back(
        cut_by_heads(builder, name(".b_proj.weight"), {whole.value_heads, hidden}));
    return linear(builder, at(".in_proj", "kda.in"), {hidden, 3 * width + heads, Sharding::Column},
                  weights, normed);
}

Value ChannelDelta::gate(Value normed) const {
    const std::int64_t all = whole.value_width();
    if (whole.full_output_gate)
        return product(".g_proj", "kda.gate", all, normed, builder.size.hidden, true);
    return product(".g_b_proj", "kda.gate", all, narrow(".g_a_proj", "kda.gate_down", normed),
                   whole.gate_rank, false);
}

Value ChannelDelta::convolved(Value projected) const {
    const Value y = value("kda.conv", 3 * width);
    PlannedParts parts{PlannedKind::Copy, {projected}, {y}};
    for (const char* one : {".q_conv1d.weight", ".k_conv1d.weight", ".v_conv1d.weight"})
        parts.parameters.push_back(
            cut_by_heads(builder, name(one), {whole.key_width(), 1, whole.convolution}));
    parts.saved = {projected.tensor};
    const std::int64_t moved = bytes(3 * width);
    parts.forward = {copies("kda.conv", moved, moved)};
    parts.backward = {copies("kda.conv.dx", 2 * moved, moved), copies("kda.conv.dw", 2 * moved, 0)};
    add_planned(builder, at(".conv1d", "kda.conv"), std::move(parts));
    return y;
}

/// The products of the chunks, which are those of gated delta nets.
std::vector<Kernel> ChannelDelta::forward() const {
    const std::int64_t c = rank.chunk;
    const std::int64_t k = whole.key_dim;
    const std::int64_t v = whole.value_dim;
    const auto chunks = [&](const char* kernel, std::int64_t m, std::int64_t n, std::int64_t over) {
        return gemm(builder, kernel, builder.layer_index, {rank.chunks() * heads, m, n, over, {}});
    };
    return {copies("kda.rule.norms", bytes(3 * width), bytes(3 * width)),
            copies("kda.rule.decays", bytes(width), bytes(2 * width)),
            chunks("kda.rule.keys", c, c, k),
            copies("kda.rule.solve", 2 * bytes(c * heads), bytes(c * heads)),
            chunks("kda.rule.w", c, k, c),
            chunks("kda.rule.u", c, v, c),
            gemm(builder, "kda.rule.states", builder.layer_index,
                 {rank.samples * heads, k, v, 2 * rank.length, {}}),
            chunks("kda.rule.scores", c, c, k),
            chunks("kda.rule.inside", c, v, c),
            chunks("kda.rule.across", c, v, k)};
}

/// Two products of the size of each, after w, u and the states are made again.
std::vector<Kernel> ChannelDelta::backward() const {
    const std::vector<Kernel> once = forward();
    std::vector<Kernel> all;
    for (const Kernel& kernel : once) {
        const bool again = kernel.name == "kda.rule.w" || kernel.name == "kda.rule.u" ||
                           kernel.name == "kda.rule.states" || kernel.name == "kda.rule.scores";
        const int times = again ? 3 : 2;
        for (int i = 0; i < times; ++i) {
            all.push_back(kernel);
            all.back().name += ".dx";
        }
    }
    return all;
}

Value ChannelDelta::rule(Value convolved, Value projected, Value decay) const {
    const Value y = value("kda.rule", width);
    const std::int64_t states =
        builder.size.element * rank.chunks() * heads * whole.key_dim * whole.value_dim;
    PlannedParts parts{PlannedKind::ChannelDecay, {convolved, projected, decay}, {y}};
    parts.parameters = {
        cut_by_heads(builder, name(".A_log"), {whole.value_heads}, Initial::Ones),
        cut_by_heads(builder, name(".dt_bias"), {whole.key_width()}, Initial::Ones)};
    const std::int64_t rows = rank.tokens() * heads;
    parts.saved = {builder.tensor("kda.rule.heads", bytes(3 * width)),
                   decay.tensor,
                   builder.tensor("kda.rule.rates", 4 * rows),
                   builder.tensor("kda.rule.inverse", builder.size.element * rows * rank.chunk),
                   builder.tensor("kda.rule.scores", 4 * rows * rank.chunk),
                   builder.tensor("kda.rule.statistics", 8 * rows)};
    parts.scratch = {builder.scratch("kda.rule.updates", bytes(2 * width)),
                     builder.scratch("kda.rule.states", states)};
    parts.scratch_back = {builder.scratch("kda.rule.updates.again", bytes(2 * width)),
                          builder.scratch("kda.rule.states.again", states),
                          builder.scratch("d.kda.rule.states", states)};
    parts.forward = forward();
    parts.backward = backward();
    Operator& op = add_planned(builder, at("", "kda.rule"), std::move(parts));
    set_pace(builder, op);
    for (std::vector<Kernel>* kernels : {&op.forward, &op.backward_input})
        for (Kernel& kernel : *kernels)
            if (auto* work = std::get_if<Gemm>(&kernel.work)) work->pace *= kPaceOfChannels;
    return y;
}

}  // namespace

Value channel_delta_context(GraphBuilder& builder, const LayerNames& names, const DeltaNet& net,
                            Value normed) {
    if (builder.how().context > 1)
        builder.refuse(
            "Kimi Delta Attention does not support context parallelism: parallel.context must be "
            "1");
    const ChannelDelta layer{builder, names, net};
    const Value projected = layer.projected(normed);
    const Value decay = net.full_decay_gate
                            ? layer.product(".f_proj", "kda.decay", net.key_width(), normed,
                                            builder.size.hidden, true)
                            : layer.product(".f_b_proj", "kda.decay", net.key_width(),
                                            layer.narrow(".f_a_proj", "kda.decay_down", normed),
                                            net.gate_rank, false);
    const Value gate = layer.gate(normed);
    const Value out = layer.rule(layer.convolved(projected), projected, decay);
    const int gain =
        builder.whole_parameter(layer.name(".o_norm.weight"), {net.value_dim}, Initial::Ones);
    return grouped_norm(builder, layer.at(".o_norm", "kda.norm"),
                        {layer.rank.tokens(), layer.width, layer.heads}, gain, out, gate);
}

}  // namespace debubble::models
