#include "models/build/attention/core.h"

namespace debubble::models {

void AttentionCore::flash() {
    const Sizes& size = builder.size;
    FlashAttention work;
    work.batch = size.samples;
    work.heads = size.heads;
    work.kv_heads = size.kv_heads;
    work.queries = size.queries;
    work.keys = size.balanced_keys;
    work.head_dim = builder.attention().head_dim;
    const Attention& attention = builder.attention();
    if (attention.value_dim != attention.head_dim) work.narrow_values = attention.value_dim;
    work.causal = builder.model().causal;
    see_less(work);
    work.element_bytes = static_cast<int>(size.element);
    work.kernel = builder.how().kernels.attention_kernel.value_or(FusedAttention::Flash2);
    work.narrow = is_narrow();
    op.forward = {{place.kernel, place.layer, work}};
    work.backward = true;
    op.backward_input = {{place.kernel + ".dx", place.layer, work}};
    const int statistics =
        builder.tensor(place.kernel + ".log_sum_exp", 4 * size.tokens * size.heads);
    op.saved = {qkv.tensor, out.tensor, statistics};
    op.forward_uses = {qkv.tensor, out.tensor, statistics};
    op.backward_input_uses = {out.gradient, qkv.tensor, out.tensor, statistics, qkv.gradient};
    op::FlashKernel flash{statistics, {}};
    if (builder.how().kernels.fp32_query_gradient) {
        flash.query_gradient = builder.scratch("d." + place.kernel + ".queries.fp32",
                                               4 * size.tokens * size.query_width);
        op.backward_input_uses.push_back(*flash.query_gradient);
    }
    roles.kernel = flash;
    if (!builder.how().kernels.gathers_unpadded) return;
    // Queries, keys and values are read and written, and the context is written over zeros.
    const std::int64_t in = builder.graph.tensors[qkv.tensor].bytes.count;
    append(op.forward, {moves(place.kernel + ".unpad", place.layer, in, in),
                        moves(place.kernel + ".pad", place.layer, out_bytes(), 2 * out_bytes())});
    append(op.backward_input,
           {moves(place.kernel + ".unpad.dx", place.layer, in, 2 * in),
            moves(place.kernel + ".pad.dx", place.layer, out_bytes(), out_bytes())});
}

/// Windows and chunks. Context-parallel ranks have queries from all over the slice, which see as
/// many keys as its mean.
void AttentionCore::see_less(FlashAttention& work) const {
    const Attention& attention = builder.attention();
    if (!attention.window && !attention.chunk && !attention.sparse) return;
    const Execution& how = builder.how();
    set_mask(work, mask_of(attention, builder.model().causal));
    if (how.sharing_keys() == 1) return;
    FlashAttention slice = work;
    slice.queries = how.seq_length / how.slices;
    slice.keys = slice.queries * (how.slice + 1);
    work.causal = false;
    work.keys = static_cast<std::int64_t>(pairs(slice) / static_cast<double>(slice.queries));
}

/// A logit of each head, cut with the heads.
void AttentionCore::add_sinks() {
    const Attention& attention = builder.attention();
    if (builder.how().attention == AttentionKernel::Unfused) {
        if (attention.sinks) builder.refuse("attention sinks need fused attention");
        if (attention.score_softcap) builder.refuse("soft caps of scores need fused attention");
    }
    if (!attention.sinks) return;
    const std::string name = place.name + ".sinks";
    const bool cut = builder.size.query_width != attention.query_width();
    Parameter sinks{name, {attention.heads}, cut ? Sharding::Column : Sharding::Replicated, 0, 1,
                    {}};
    roles.sinks = builder.parameter(std::move(sinks));
    op.parameters = {*roles.sinks};
}

Value attention_core(GraphBuilder& builder, const OperatorPlace& place, const op::Heads& split,
                     Value packed) {
    const op::Value qkv = split.queries;
    const std::int64_t bytes =
        builder.size.element * builder.size.tokens * builder.size.context_width;
    const Value out{builder.tensor(place.kernel + ".out", bytes),
                    builder.tensor("d." + place.kernel + ".out", bytes), packed.cut};
    AttentionCore part{builder, place, qkv, out, start(place), {split, out}};
    part.op.inputs = {qkv.tensor};
    if (builder.how().attention == AttentionKernel::Flash) {
        part.flash();
    } else {
        part.unfused();
    }
    part.add_sinks();
    part.context_parallel();
    part.earlier_slices();
    part.cast_operands();
    // After an all-to-all, values are not a view of the packed QKV tensor.
    if (builder.how().kernels.attention_copies && !split.keys && !exchanges_heads(builder.how())) {
        part.roles.packed = packed.tensor;
        part.op.inputs.push_back(packed.tensor);
        part.op.saved.push_back(packed.tensor);
        part.op.forward_uses.push_back(packed.tensor);
        part.op.backward_input_uses.push_back(packed.tensor);
    }
    part.op.roles = part.roles;
    builder.graph.operators.push_back(std::move(part.op));
    return out;
}

}  // namespace debubble::models
