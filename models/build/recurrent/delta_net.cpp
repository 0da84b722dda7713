#include "models/build/recurrent/recurrent.h"

/// Gated delta nets (Yang et al. 2025, arXiv:2412.06464) as Megatron-Core and transformers run them
/// (ssm/gated_delta_net.py; Qwen3-Next): products into queries, keys, values, gate and the two
/// rates of each head; a causal convolution of the first three; the chunk rule of
/// flash-linear-attention (gated_delta_rule/chunk.py), which keeps its queries, keys and values and
/// makes states again; and a gated norm of every head.
namespace debubble::models {

namespace {

constexpr std::int64_t kRate = 4;  ///< bytes of a decay: fp32

/// y = SiLU of the causal convolution of the first columns of x.
Value convolution(GraphBuilder& builder, const OperatorPlace& place, const Recurrence& rank,
                  int weight, std::int64_t columns, Value x) {
    const std::int64_t bytes = builder.size.element * rank.tokens() * columns;
    const Value y{builder.tensor(place.kernel + ".out", bytes),
                  builder.tensor("d." + place.kernel + ".out", bytes), x.cut};
    Operator op = start(place, x);
    op.roles = op::Convolution{x, y, weight, rank.tokens(), columns};
    op.parameters = {weight};
    op.saved = {x.tensor};
    op.forward = {moves(place.kernel, place.layer, bytes, bytes)};
    op.forward_uses = {x.tensor, y.tensor};
    op.backward_input = {moves(place.kernel + ".dx", place.layer, 2 * bytes, bytes),
                         moves(place.kernel + ".dw", place.layer, 2 * bytes, 0)};
    op.backward_input_uses = {y.gradient, x.tensor, x.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

/// The chunk rule of one rank. [C] tokens of a chunk, [k] and [v] the widths of a head.
struct Rule {
    GraphBuilder& builder;
    const OperatorPlace& place;
    DeltaNet part;  ///< with the heads of this rank
    Recurrence rank;
    Operator op;
    models::op::DeltaRule roles = {};

    std::int64_t heads() const { return part.value_heads; }
    std::int64_t bytes(std::int64_t columns) const {
        return builder.size.element * rank.tokens() * columns;
    }
    std::int64_t state_bytes() const {
        return builder.size.element * rank.chunks() * heads() * part.key_dim * part.value_dim;
    }
    std::int64_t widths() const { return heads() * (2 * part.key_dim + part.value_dim); }
    std::int64_t rate_bytes() const {
        return (kRate + builder.size.element) * rank.tokens() * heads();
    }
    Kernel copies(const char* suffix, std::int64_t read, std::int64_t written) const {
        return moves(place.kernel + suffix, place.layer, read, written);
    }
    /// A product for each chunk of each head.
    Kernel product(const char* suffix, std::int64_t m, std::int64_t n, std::int64_t k) const {
        return gemm(builder, place.kernel + suffix, place.layer,
                    {rank.chunks() * heads(), m, n, k, {}});
    }
    /// `products` of a state with all tokens of its sequence, chunk after chunk: no two chunks of a
    /// head are worked on at a time.
    Kernel in_turn(const char* suffix, int products) const {
        return gemm(builder, place.kernel + suffix, place.layer,
                    {rank.samples * heads(), part.key_dim, part.value_dim, products * rank.length,
                     Bytes{state_bytes()}});
    }
    /// w and u of the chunks, and the states between them.
    std::vector<Kernel> states(const char* w, const char* u, const char* passed) const {
        const std::int64_t c = rank.chunk;
        return {product(w, c, part.key_dim, c), product(u, c, part.value_dim, c),
                in_turn(passed, 2)};
    }
    void forward();
    void backward();
};

void Rule::forward() {
    const std::int64_t c = rank.chunk;
    const std::int64_t k = part.key_dim;
    const std::int64_t v = part.value_dim;
    op.forward = {copies(".split", bytes(part.convolved()), bytes(widths())),
                  copies(".rates", bytes(2 * heads()), rate_bytes()), product(".keys", c, c, k),
                  copies(".solve", 2 * bytes(c * heads()), bytes(c * heads()))};
    append(op.forward, states(".w", ".u", ".states"));
    append(op.forward,
           {product(".scores", c, c, k), product(".inside", c, v, c), product(".across", c, v, k)});
    roles.updates = builder.scratch(place.kernel + ".updates", bytes(heads() * (k + v)));
    roles.states = builder.scratch(place.kernel + ".states", state_bytes());
    op.inputs = {roles.convolved.tensor, roles.projected.tensor};
    op.saved = {roles.convolved.tensor, roles.projected.tensor, roles.heads, roles.rates,
                roles.inverse};
    op.forward_uses = {
        roles.convolved.tensor, roles.projected.tensor, roles.heads,  roles.rates,
        roles.inverse,          roles.updates,          roles.states, roles.out.tensor};
}

/// The gradients of a product are two of its size; w, u, states and scores are made again.
void Rule::backward() {
    const std::int64_t c = rank.chunk;
    const std::int64_t k = part.key_dim;
    const std::int64_t v = part.value_dim;
    op.backward_input = states(".w.again", ".u.again", ".states.again");
    append(
        op.backward_input,
        {product(".scores.again", c, c, k), product(".inside.du", c, v, c), in_turn(".dstates", 3),
         product(".inside.dscores", c, c, v), product(".across.dq", c, k, v),
         product(".dk", c, k, v), product(".dw", c, k, v), product(".scores.dq", c, k, c),
         product(".scores.dk", c, k, c), product(".w.dinverse", c, c, k),
         product(".u.dinverse", c, c, v), product(".w.dk", c, k, c), product(".u.dv", c, v, c),
         product(".keys.dx", c, 2 * k, c), copies(".rates.dx", rate_bytes(), bytes(2 * heads())),
         copies(".split.dx", 2 * bytes(widths()), bytes(part.convolved()))});
    roles.updates_again =
        builder.scratch(place.kernel + ".updates.again", bytes(heads() * (k + v)));
    roles.states_again = builder.scratch(place.kernel + ".states.again", state_bytes());
    roles.states_gradient = builder.scratch("d." + place.kernel + ".states", state_bytes());
    roles.heads_gradient = builder.scratch("d." + place.kernel + ".heads", bytes(widths()));
    // The norms of queries and keys read what they normalised.
    op.backward_input_uses = {roles.out.gradient,
                              roles.convolved.tensor,
                              roles.projected.tensor,
                              roles.heads,
                              roles.rates,
                              roles.inverse,
                              roles.updates_again,
                              roles.states_again,
                              roles.states_gradient,
                              roles.heads_gradient,
                              roles.convolved.gradient,
                              roles.projected.gradient};
}

/// The layer from its products on.
struct Layout {
    GraphBuilder& builder;
    const LayerNames& names;
    const DeltaNet& whole;
    Recurrence rank = recurrence(builder, whole.chunk);
    DeltaNet part = whole;

    std::string name(const char* parameter) const {
        return names.prefix + names.attention + parameter;
    }
    OperatorPlace at(const char* operation, const char* kernel) const {
        return {name(operation), kernel, builder.layer_index};
    }
    Value rule(Value convolved, Value projected) const;
};

Value Layout::rule(Value convolved, Value projected) const {
    const OperatorPlace place = at("", "delta.rule");
    Rule core{builder, place, part, rank, start(place)};
    const std::int64_t out = core.bytes(part.value_width());
    auto& roles = core.roles;
    roles.convolved = convolved;
    roles.projected = projected;
    roles.out = {builder.tensor(place.kernel + ".out", out),
                 builder.tensor("d." + place.kernel + ".out", out)};
    roles.part = part;
    roles.tokens = rank.tokens();
    roles.chunks = rank.chunks();
    roles.decay = cut_by_heads(builder, name(".A_log"), {whole.value_heads}, Initial::Ones);
    roles.rate_bias = cut_by_heads(builder, name(".dt_bias"), {whole.value_heads}, Initial::Ones);
    core.op.parameters = {roles.decay, roles.rate_bias};
    roles.heads = builder.tensor(place.kernel + ".heads", core.bytes(core.widths()));
    roles.rates = builder.tensor(place.kernel + ".rates", core.rate_bytes());
    roles.inverse =
        builder.tensor(place.kernel + ".inverse", core.bytes(rank.chunk * core.heads()));
    core.forward();
    core.backward();
    core.op.roles = roles;
    set_pace(builder, core.op);
    builder.graph.operators.push_back(std::move(core.op));
    return {roles.out.tensor, roles.out.gradient, projected.cut};
}

}  // namespace

Value delta_net_context(GraphBuilder& builder, const LayerNames& names, const DeltaNet& net,
                        Value normed) {
    Layout layer{builder, names, net};
    const Recurrence& rank = layer.rank;
    layer.part.key_heads = share(builder, rank, net.key_heads, "key heads of a delta net");
    layer.part.value_heads = share(builder, rank, net.value_heads, "value heads of a delta net");
    const std::int64_t hidden = builder.size.hidden;
    const std::int64_t ranks = builder.size.tensor;
    const LinearParameters weights{
        {cut_by_heads(builder, layer.name(".in_proj_qkvz.weight"),
                      {net.convolved() + net.value_width(), hidden}),
         cut_by_heads(builder, layer.name(".in_proj_ba.weight"), {2 * net.value_heads, hidden})},
        {}};
    const std::int64_t columns = net.projected() / ranks;
    Value projected = linear(builder, layer.at(".in_proj", "delta.in"),
                             {hidden, columns, Sharding::Column}, weights, normed);
    projected = to_sequences(builder, layer.at("", "delta.exchange"), projected, columns);
    const int kernel =
        cut_by_heads(builder, layer.name(".conv1d.weight"), {net.convolved(), 1, net.convolution});
    const Value convolved = convolution(builder, layer.at(".conv1d", "delta.conv"), rank, kernel,
                                        layer.part.convolved(), projected);
    const Value out = layer.rule(convolved, projected);
    const int gain =
        builder.whole_parameter(layer.name(".norm.weight"), {net.value_dim}, Initial::Ones);
    const Value normed_out = grouped_norm(
        builder, layer.at(".norm", "delta.norm"),
        {rank.tokens(), layer.part.value_width(), layer.part.value_heads}, gain, out, projected);
    return to_tokens(builder, layer.at("", "delta.return"), normed_out, net.value_width() / ranks);
}

}  // namespace debubble::models
