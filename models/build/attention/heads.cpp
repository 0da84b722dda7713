#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

/// Queries, keys and values of the packed product, in the form that the attention core takes.
namespace debubble::models {

namespace {

/// As many heads as the rank has; their owner is not yet decided.
op::Heads heads_of(const GraphBuilder& builder, op::Heads::Layout layout) {
    op::Heads heads;
    heads.layout = layout;
    heads.heads = builder.size.heads;
    heads.kv_heads = builder.size.kv_heads;
    heads.head_dim = builder.attention().head_dim;
    heads.value_dim = builder.attention().value_dim;
    heads.gates = layout == op::Heads::Layout::Packed && builder.attention().output_gate;
    return heads;
}

/// Bias, rotation and the copy into queries, keys and values.
SplitValue split_off(GraphBuilder& builder, const OperatorPlace& place, Value packed) {
    const Sizes& size = builder.size;
    const std::int64_t rotated = size.tokens * (size.query_width + size.key_width);
    const bool rope = builder.attention().rotary;
    const std::int64_t bytes = size.element * (rotated + size.tokens * size.value_width);
    const bool sliced = builder.how().slices > 1;
    const std::int64_t viewed = !builder.how().kernels.attention_copies || sliced ? 0
                                : rope ? size.element * size.tokens * size.value_width
                                       : bytes;
    const std::int64_t copied = bytes - viewed;
    const std::int64_t keys =
        sliced ? size.element * size.tokens * (size.key_width + size.value_width) : 0;
    op::Heads split = heads_of(builder, op::Heads::Layout::Apart);
    split.queries = {builder.tensor(place.kernel + ".out", copied - keys),
                     builder.tensor("d." + place.kernel + ".out", bytes - keys)};
    op::SplitHeads roles{packed, {}, rope, {}, {}};
    Operator op = start(place);
    op.inputs = {packed.tensor};
    op.forward = {moves(place.kernel, place.layer, copied, copied)};
    op.backward_input = {moves(place.kernel + ".dx", place.layer, bytes, bytes)};
    op.forward_uses = {packed.tensor, split.queries.tensor};
    op.backward_input_uses = {split.queries.gradient, packed.gradient};
    if (sliced) {
        const op::Value own{builder.tensor(place.kernel + ".keys", keys),
                            builder.tensor("d." + place.kernel + ".keys", keys)};
        split.keys = own;
        builder.graph.tensors[own.tensor].slices = Across::Seen;
        builder.graph.tensors[own.gradient].slices = Across::Summed;
        op.inputs.push_back(own.tensor);  // an operator that runs again writes to the same tensor
        op.forward_uses.push_back(own.tensor);
        op.backward_input_uses.push_back(own.gradient);
    }
    if (rope && !builder.how().kernels.fused_rope) {
        // cosine product, rotated half, sine product, sum; tables of queries and of keys kept
        roles.tables = builder.tensor(place.kernel + ".tables", 4 * size.element * size.queries *
                                                                    builder.attention().head_dim);
        op.saved = {*roles.tables};
        op.forward_uses.push_back(*roles.tables);
        op.backward_input_uses.push_back(*roles.tables);
        const std::int64_t pass = size.element * rotated;
        op.forward.push_back(moves(place.kernel + ".rotate", place.layer, 5 * pass, 4 * pass));
        op.backward_input.push_back(
            moves(place.kernel + ".rotate.dx", place.layer, 5 * pass, 4 * pass));
    }
    if (builder.attention().output_gate) {
        const std::int64_t gates = size.element * size.tokens * size.query_width;
        roles.gate = op::Value{builder.tensor(place.kernel + ".gate", gates),
                               builder.tensor("d." + place.kernel + ".gate", gates)};
        op.forward.push_back(moves(place.kernel + ".gate", place.layer, gates, gates));
        op.forward_uses.push_back(roles.gate->tensor);
        op.backward_input.push_back(moves(place.kernel + ".gate.dx", place.layer, gates, gates));
        op.backward_input_uses.push_back(roles.gate->gradient);
    }
    roles.heads = split;
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return {split, packed, roles.gate};
}

/// All three inside the packed product, with queries and keys rotated in place.
op::Heads in_place(GraphBuilder& builder, const OperatorPlace& place, Value packed) {
    op::Heads heads = heads_of(builder, op::Heads::Layout::Packed);
    heads.queries = packed;
    if (!builder.attention().rotary) return heads;
    const Sizes& size = builder.size;
    const Attention& attention = builder.attention();
    const std::int64_t rotated = size.element * size.tokens * (size.heads + size.kv_heads) *
                                 attention.rotary_dim.value_or(attention.head_dim);
    Operator op = start(place, packed);
    op.roles = op::Rope{heads};
    op.forward = {moves(place.kernel, place.layer, rotated, rotated)};
    op.backward_input = {moves(place.kernel + ".dx", place.layer, rotated, rotated)};
    op.forward_uses = {packed.tensor};
    op.backward_input_uses = {packed.gradient};
    builder.graph.operators.push_back(std::move(op));
    return heads;
}

}  // namespace

namespace {

/// The tensors of a norm of queries and keys in place: what it keeps, and its statistics.
struct HeadNorms {
    GraphBuilder& builder;
    const OperatorPlace& place;
    const LayerNames& names;
    Value packed;

    std::int64_t bytes() const {
        const Sizes& size = builder.size;
        return size.element * size.tokens * (size.query_width + size.key_width);
    }
    op::Heads heads() const {
        op::Heads all = heads_of(builder, op::Heads::Layout::Packed);
        all.queries = packed;
        return all;
    }
    int kept() const { return builder.tensor(place.kernel + ".kept", bytes()); }
    /// `count` values of every token.
    int statistics(const char* name, std::int64_t count) const {
        return builder.tensor(place.kernel + name, 4 * builder.size.tokens * count);
    }
    std::string gain(const char* name) const {
        return names.prefix + names.attention + name + ".weight";
    }
    int gain_of_heads(const char* name) const {
        const int index = builder.norm_weight(gain(name), builder.attention().head_dim);
        builder.graph.parameters[index].of_own_heads =
            builder.size.heads != builder.attention().heads;
        return index;
    }
    /// A weight of every column, cut with the heads.
    int gain_of_width(const char* name, std::int64_t columns) const {
        const bool cut = builder.size.query_width != builder.attention().query_width();
        Parameter gain_parameter{
            gain(name), {columns}, cut ? Sharding::Column : Sharding::Replicated, 0, 1, {}};
        gain_parameter.initial = Initial::Ones;
        gain_parameter.zero_centred = builder.model().zero_centred_norms;
        return builder.parameter(std::move(gain_parameter));
    }
    Operator started(int kept, int statistics, std::vector<int> parameters) const {
        Operator op = start(place, packed);
        op.parameters = std::move(parameters);
        op.saved = {kept, statistics};
        op.forward = {moves(place.kernel, place.layer, bytes(), 2 * bytes())};
        op.forward_uses = {packed.tensor, kept, statistics};
        op.backward_input = {moves(place.kernel + ".dx", place.layer, 2 * bytes(), bytes())};
        if (!op.parameters.empty())
            op.backward_input.push_back(moves(place.kernel + ".dw", place.layer, 2 * bytes(), 0));
        op.backward_input_uses = {packed.gradient, kept, statistics};
        return op;
    }
    void of_heads() const;
    void of_width() const;
    void without_weights() const;
};

void HeadNorms::of_heads() const {
    const Sizes& size = builder.size;
    const op::HeadNorm roles{heads(), gain_of_heads(".q_norm"), gain_of_heads(".k_norm"), kept(),
                             statistics(".statistics", size.heads + size.kv_heads)};
    Operator op = started(roles.kept, roles.statistics, {roles.query_gain, roles.key_gain});
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
}

/// The ranks' sums of squares are added up, and in the backward those of gradients and values.
void HeadNorms::of_width() const {
    op::WidthNorm roles;
    roles.heads = heads();
    roles.query_gain = gain_of_width(".q_norm", builder.attention().query_width());
    roles.key_gain = gain_of_width(".k_norm", builder.attention().key_width());
    roles.kept = kept();
    roles.statistics = statistics(".statistics", 2);
    const std::int64_t sums = 8 * builder.size.tokens;
    roles.sums = builder.scratch(place.kernel + ".sums", sums);
    roles.gradient_sums = builder.scratch("d." + place.kernel + ".sums", sums);
    Operator op = started(roles.kept, roles.statistics, {roles.query_gain, roles.key_gain});
    op.forward_uses.push_back(roles.sums);
    op.backward_input_uses.push_back(roles.gradient_sums);
    if (packed.cut) {
        append(op.forward, collective(builder, place.kernel + ".reduce", place.layer,
                                      Collective::Kind::AllReduce, sums));
        append(op.backward_input, collective(builder, place.kernel + ".dx.reduce", place.layer,
                                             Collective::Kind::AllReduce, sums));
    }
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
}

void HeadNorms::without_weights() const {
    const Sizes& size = builder.size;
    const op::HeadL2Norm roles{heads(), kept(),
                               statistics(".statistics", size.heads + size.kv_heads)};
    Operator op = started(roles.kept, roles.statistics, {});
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
}

}  // namespace

void norm_heads(GraphBuilder& builder, const OperatorPlace& place, const LayerNames& names,
                Value packed) {
    const HeadNorms norms{builder, place, names, packed};
    switch (builder.attention().qk_norm) {
        case QkNorm::None: return;
        case QkNorm::Heads: return norms.of_heads();
        case QkNorm::Width: return norms.of_width();
        case QkNorm::L2: return norms.without_weights();
    }
}

bool attends_packed(const Attention& attention, const Execution& execution) {
    return execution.kernels.packed_attention && execution.attention == AttentionKernel::Flash &&
           execution.slices == 1 && execution.context == 1 &&
           (execution.kernels.fused_rope || !attention.rotary) && !attention.output_gate;
}

SplitValue split_heads(GraphBuilder& builder, const OperatorPlace& place, Value packed) {
    if (attends_packed(builder.attention(), builder.how()))
        return {in_place(builder, place, packed), packed};
    return split_off(builder, place, packed);
}

}  // namespace debubble::models
