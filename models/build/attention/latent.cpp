#include "models/build/attention/core.h"

/// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434), cut as Megatron-Core does
/// (transformer/multi_latent_attention.py): the products into the narrow values and their norms are
/// whole on every tensor-parallel rank, over its tokens of the residual stream; the products out of
/// them are cut by heads.
namespace debubble::models {

Latent::Queries Latent::queries(Value x) const {
    if (!latent.query_rank)
        return {up(".q_proj", "attn.q", x, builder.size.hidden, attention.head_dim, true)};
    const Value narrow =
        normed(".q_a_layernorm", "attn.q_norm",
               down(".q_a_proj", "attn.q_down", x, *latent.query_rank, true), *latent.query_rank);
    return {up(".q_b_proj", "attn.q_up", narrow, *latent.query_rank, attention.head_dim), narrow};
}

SplitValue Latent::joined(Value queries, Value keys_values, Value rotated) const {
    const Sizes& size = builder.size;
    const OperatorPlace place = at("", "attn.split");
    const bool sliced = builder.how().slices > 1;
    const std::int64_t pair_bytes =
        size.element * size.tokens * (size.key_width + size.value_width);
    const std::int64_t bytes = size.element * size.tokens * size.query_width + pair_bytes;
    const std::int64_t own_bytes = sliced ? bytes - pair_bytes : bytes;
    const std::int64_t rope_bytes = size.element * size.tokens * latent.rope_dim;
    op::Heads heads;
    heads.layout = op::Heads::Layout::Apart;
    heads.heads = heads.kv_heads = size.heads;
    heads.head_dim = attention.head_dim;
    heads.value_dim = attention.value_dim;
    heads.queries = {builder.tensor("attn.split.out", own_bytes),
                     builder.tensor("d.attn.split.out", own_bytes)};
    if (sliced) {  // each slice keeps its keys for later ones
        heads.keys = {builder.tensor("attn.split.keys", pair_bytes),
                      builder.tensor("d.attn.split.keys", pair_bytes)};
        builder.graph.tensors[heads.keys->tensor].slices = Across::Seen;
        builder.graph.tensors[heads.keys->gradient].slices = Across::Summed;
    }
    Operator op = start(place);
    op.inputs = {queries.tensor, keys_values.tensor, rotated.tensor};
    op::LatentHeads roles{queries, keys_values, rotated, heads, {}, {}};
    op.forward_uses = op.inputs;
    op.backward_input_uses = {heads.queries.gradient};
    if (heads.keys) {
        op.inputs.push_back(heads.keys->tensor);  // an operator that runs again writes it again
        op.forward_uses.push_back(heads.keys->tensor);
        op.backward_input_uses.push_back(heads.keys->gradient);
    }
    if (size.scattered) {
        roles.gathered = builder.scratch("attn.split.rope", rope_bytes);
        op.forward_uses.push_back(*roles.gathered);
        append(op.forward, collective(builder, "attn.split.gather", place.layer,
                                      Collective::Kind::AllGather, rope_bytes));
    }
    if (size.tensor > 1) {
        roles.gathered_gradient = builder.scratch("d.attn.split.rope", rope_bytes);
        op.backward_input_uses.push_back(*roles.gathered_gradient);
    }
    op.forward.push_back(moves("attn.split", place.layer, bytes, bytes));
    op.forward_uses.push_back(heads.queries.tensor);
    op.backward_input.push_back(moves("attn.split.dx", place.layer, bytes, bytes));
    // A rank's heads give a part of the gradient of the rotated keys, which all heads share.
    append(op.backward_input, collective(builder, "attn.split.dx.reduce", place.layer,
                                         size.scattered ? Collective::Kind::ReduceScatter
                                                        : Collective::Kind::AllReduce,
                                         rope_bytes));
    for (const Value& value : {queries, keys_values, rotated})
        op.backward_input_uses.push_back(value.gradient);
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    builder.mark(builder.next_operator() - 1, Module::MlaUpProjection);
    return {heads, {heads.queries.tensor, heads.queries.gradient, size.tensor > 1}};
}

SplitValue latent_heads(GraphBuilder& builder, const LayerNames& names, Value normed) {
    builder.cut_heads(true);
    const Latent part{builder, names};
    const LatentAttention& latent = part.latent;
    const Value queries = part.queries(normed).heads;
    const Value narrow = part.down(".kv_a_proj_with_mqa", "attn.kv_down", normed,
                                   latent.key_rank + latent.rope_dim, false);
    const Value keys = part.normed(".kv_a_layernorm", "attn.kv_norm", narrow, latent.key_rank);
    const Value keys_values = part.up(".kv_b_proj", "attn.kv_up", keys, latent.key_rank,
                                      part.own_columns() + part.attention.value_dim);
    return part.joined(queries, keys_values, narrow);
}

}  // namespace debubble::models
