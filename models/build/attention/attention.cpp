#include <algorithm>

#include "base/overloaded.h"
#include "models/build/attention/core.h"
#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

namespace debubble::models {

namespace {

/// Concatenates the heads again into a new tensor.
Value copy_context(GraphBuilder& builder, const OperatorPlace& place, Value context) {
    const std::int64_t bytes =
        builder.size.element * builder.size.tokens * builder.size.context_width;
    const Value out{builder.tensor(place.kernel + ".out", bytes),
                    builder.tensor("d." + place.kernel + ".out", bytes), context.cut};
    Operator op = start(place, context);
    op.roles = op::CopyContext{context, out};
    op.forward = {moves(place.kernel, place.layer, bytes, bytes)};
    op.backward_input = {moves(place.kernel + ".dx", place.layer, bytes, bytes)};
    op.forward_uses = {context.tensor, out.tensor};
    op.backward_input_uses = {out.gradient, context.gradient};
    builder.graph.operators.push_back(std::move(op));
    return out;
}

/// Core attention, with the all-to-alls before and after it under Ulysses context parallelism, and
/// a copy of its output where the framework makes one. `place` names the parts.
Value attend(GraphBuilder& builder, const OperatorPlace& place, op::Heads split, Value packed) {
    const auto at = [&](const char* part) {
        return OperatorPlace{place.name, place.kernel + part, place.layer};
    };
    const Execution& how = builder.how();
    const Sizes own = builder.size;
    const bool exchanges = exchanges_heads(how);
    const std::size_t first = builder.next_operator();
    if (exchanges) {
        const Value queries{split.queries.tensor, split.queries.gradient, packed.cut};
        split.queries =
            exchanged(builder, at(".exchange"), queries,
                      own.query_width + own.key_width + own.value_width, how.exchanging());
        builder.size = with_whole_sequences(builder);
        split.heads = builder.size.heads;
        split.kv_heads = builder.size.kv_heads;
    }
    const std::size_t attention = builder.graph.operators.size();
    Value context = attention_core(builder, at(".core"), split, packed);
    builder.size = own;
    if (exchanges) {
        context = exchanged(builder, at(".return"), context, own.context_width, how.exchanging());
        // TransformerEngine's ring (9c61cd7, AttnFuncWithCPAndKVP2P) keeps no copy in any release.
        if (!how.kernels.context_output_copy || how.sharing_keys() > 1)
            exchange_again(builder, attention, context);
    }
    builder.mark(first, Module::CoreAttention);
    return how.kernels.attention_copies ? copy_context(builder, at(".copy"), context) : context;
}

/// The fused QKV projection.
SplitValue packed_heads(GraphBuilder& builder, const LayerNames& names, Value normed) {
    const Sizes& size = builder.size;
    const auto at = [&](const std::string& name, const char* kernel) {
        return OperatorPlace{names.prefix + name, kernel, builder.layer_index};
    };
    const LinearParameters weights = qkv_parameters(builder, names);
    const Sharding cut = builder.sharding_of(weights);
    builder.cut_heads(cut == Sharding::Column);
    LinearShape shape{builder.part(cut == Sharding::Row, size.hidden, "hidden columns"),
                      (builder.attention().output_gate ? 2 : 1) * size.query_width +
                          size.key_width +
                          (builder.attention().keys_are_values ? 0 : size.value_width),
                      cut, builder.attention().qkv_bias};
    shape.after_norm = builder.layer().norms != NormPosition::After;
    // A parallel part reads the same input, and its backward comes first.
    shape.adds_gradient = builder.layer().beside || builder.layer().one_norm;
    shape.adapter = builder.how().lora && builder.how().lora->qkv;
    const std::size_t first = builder.next_operator();
    const Value packed = linear(builder, at(names.qkv, "attn.qkv"), shape, weights, normed);
    builder.mark(first, Module::QkvLinear);
    norm_heads(builder, at(names.attention, "attn.qk_norm"), names, packed);
    return split_heads(builder, at(names.attention, "attn.split"), packed);
}

/// y = x sigmoid(gate): both are kept for the gradients.
Value gate_context(GraphBuilder& builder, const OperatorPlace& place, Value x, op::Value gate) {
    const std::int64_t columns = builder.size.context_width;
    const std::int64_t bytes = builder.size.element * builder.size.tokens * columns;
    const Value y{builder.tensor(place.kernel + ".out", bytes),
                  builder.tensor("d." + place.kernel + ".out", bytes), x.cut};
    Operator op = start(place);
    op.roles = op::OutputGate{x, gate, y, columns};
    op.inputs = {x.tensor, gate.tensor};
    op.saved = {x.tensor, gate.tensor};
    op.forward = {moves(place.kernel, place.layer, 2 * bytes, bytes)};
    op.forward_uses = {x.tensor, gate.tensor, y.tensor};
    op.backward_input = {moves(place.kernel + ".dx", place.layer, 3 * bytes, 2 * bytes)};
    op.backward_input_uses = {y.gradient, x.tensor, gate.tensor, x.gradient, gate.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

/// A norm of values, or of the keys as values. Its input is kept, unless the keys' own norm keeps
/// it. Where attention reads the product itself, values that are not in it are a tensor.
std::optional<int> own_values(GraphBuilder& builder, const OperatorPlace& place, Value packed,
                              const op::Heads& heads) {
    const Attention& attention = builder.attention();
    if (!attention.keys_are_values && !attention.value_norm) return {};
    const Sizes& size = builder.size;
    const std::int64_t bytes = size.element * size.tokens * size.value_width;
    PlannedParts parts{op::Planned::Kind::ScaleNorm, {packed}, {}};
    if (attention.value_norm)
        parts.saved.push_back(
            builder.tensor(place.kernel + ".statistics", 4 * size.tokens * size.kv_heads));
    if (!attention.keys_are_values)
        parts.saved.push_back(builder.tensor(place.kernel + ".kept", bytes));
    std::optional<int> values;
    if (attention.keys_are_values && heads.layout == op::Heads::Layout::Packed) {
        values = builder.tensor(place.kernel + ".out", bytes);
        parts.writes.push_back(
            {*values, builder.tensor("d." + place.kernel + ".out", bytes), packed.cut});
    }
    parts.forward = {moves(place.kernel, place.layer, bytes, 2 * bytes)};
    parts.backward = {moves(place.kernel + ".dx", place.layer, 3 * bytes, bytes)};
    add_planned(builder, place, std::move(parts));
    return values;
}

Value attention_context(GraphBuilder& builder, const LayerNames& names, const Attention& attention,
                        Value normed) {
    const auto at = [&](const char* kernel) {
        return OperatorPlace{names.prefix + names.attention, kernel, builder.layer_index};
    };
    if (attention.compressed) return compressed_context(builder, names, attention, normed);
    if (attention.sparse && attention.latent)
        return sparse_latent_context(builder, names, attention, normed);
    if (attention.sparse) choose_keys(builder, names, normed, {});
    const std::size_t first = builder.next_operator();
    const auto [split, packed, gate] = attention.latent ? latent_heads(builder, names, normed)
                                                        : packed_heads(builder, names, normed);
    const std::optional<int> values = own_values(builder, at("attn.values"), packed, split);
    const Value context = attend(builder, at("attn"), split, packed);
    for (std::size_t i = first; i < builder.next_operator(); ++i) {
        Operator& op = builder.graph.operators[i];
        auto* core = std::get_if<op::Attention>(&op.roles);
        if (core == nullptr) continue;
        for (const std::optional<int>& more : {values, builder.choice}) {
            if (!more || (more == builder.choice && !attention.sparse)) continue;
            core->kept_beside.push_back(*more);
            op.inputs.push_back(*more);
            op.saved.push_back(*more);
            op.forward_uses.push_back(*more);
            op.backward_input_uses.push_back(*more);
        }
    }
    if (attention.latent && attention.output_gate)
        return gate_latent(builder, names, normed, context);
    if (attention.head_gate) return gate_heads(builder, names, normed, context);
    return gate ? gate_context(builder, at("attn.gate"), context, *gate) : context;
}

/// Keeps the result of the last operator in 12 bits instead of the compute type, if it is a fused
/// attention whose result the product after it reads as it is: the copy serves the backward of
/// both. Returns it.
std::optional<int> keep_context_narrow(GraphBuilder& builder, Value context) {
    if (!builder.how().low_precision.narrows_activations(builder.layer_index)) return {};
    Operator& op = builder.graph.operators.back();
    auto* core = std::get_if<op::Attention>(&op.roles);
    const bool keeps = core != nullptr && core->out.tensor == context.tensor &&
                       std::holds_alternative<op::FlashKernel>(core->kernel) &&
                       std::ranges::find(op.saved, context.tensor) != op.saved.end();
    if (!keeps || (builder.size.tensor > 1 && !context.cut)) return {};
    const std::string name = builder.graph.tensors[context.tensor].name;
    const std::int64_t wide = builder.graph.tensors[context.tensor].bytes.count;
    const std::int64_t narrow = e5m6_bytes(wide / builder.size.element);
    const int kept = builder.tensor(name + ".e5m6", narrow);
    const int again = builder.scratch(name + ".again", wide);
    core->narrow_context = op::NarrowContext{kept, again};
    std::ranges::replace(op.saved, context.tensor, kept);
    op.forward_uses.push_back(kept);
    op.forward.push_back(moves(op.forward.front().name + ".keep", op.layer, wide, narrow));
    std::ranges::replace(op.backward_input_uses, context.tensor, kept);
    op.backward_input_uses.push_back(again);
    op.backward_input.insert(op.backward_input.begin(),
                             moves(name + ".widen", op.layer, narrow, wide));
    return kept;
}

/// The input of the layer's output projection, and its columns over all ranks.
struct Context {
    Value value;
    std::int64_t width = 1;
};

Context context_of(GraphBuilder& builder, const LayerNames& names, Value normed) {
    return std::visit(
        Overloaded{
            [&](const Attention& attention) -> Context {
                const Value context = attention_context(builder, names, attention, normed);
                const auto& narrow = attention.compressed;
                return {context,
                        narrow ? narrow->groups * narrow->out_rank : attention.context_width()};
            },
            [&](const Mamba& mamba) -> Context {
                return {mamba_context(builder, names, mamba, normed), mamba.inner()};
            },
            [&](const DeltaNet& net) -> Context {
                if (net.fixed_decay)
                    return {lightning_context(builder, names, net, normed), net.value_width()};
                if (net.channel_decay)
                    return {channel_delta_context(builder, names, net, normed), net.value_width()};
                return {delta_net_context(builder, names, net, normed), net.value_width()};
            },
            [&](const NoMixer&) -> Context {
                return {normed, builder.size.hidden};
            }},
        builder.layer().mixer);
}

/// The branch of a state-space part parallel to attention, whose gradient is `gradient`.
Value state_space_beside(GraphBuilder& builder, const LayerNames& names, Value opened,
                         int gradient) {
    const Mamba& mamba = *builder.layer().beside;
    LayerNames own = names;
    own.attention = "mamba";
    own.projection = "mamba.out_proj";
    const Value context = mamba_context(builder, own, mamba, opened);
    const LinearParameters weights = projection_parameters(builder, own, mamba.inner(), false);
    const LinearShape shape{builder.part(true, mamba.inner(), "columns of the state-space part"),
                            builder.size.hidden, Sharding::Row};
    return linear_to_stream(builder,
                            {own.prefix + own.projection, "mamba.proj", builder.layer_index}, shape,
                            weights, context, gradient);
}

}  // namespace

Branch mixer_branch(GraphBuilder& builder, Value x, PartGradients gradients) {
    const Sizes& size = builder.size;
    const int layer = builder.layer_index;
    const LayerNames names = layer_names(builder.model(), layer);
    const auto at = [&](const std::string& name, const char* kernel) {
        return OperatorPlace{names.prefix + name, kernel, layer};
    };
    const auto* attention = builder.layer().as<Attention>();
    const bool biased = attention != nullptr && attention->output_bias;
    const std::size_t first = builder.next_operator();
    const Value opened = open_branch(builder, at(names.norm1, "ln1"), x, gradients.through);
    builder.mark(first, Module::AttentionNorm);
    // Other attention's norm is fused with its product (TransformerEngine's LayerNormLinear).
    if (attention != nullptr && attention->latent) builder.mark(first, Module::LayerNorm);
    builder.opened = opened;
    const Context context = context_of(builder, names, opened);
    const OperatorPlace residual_place = at(names.attention, "attn.residual");
    const LinearParameters out_weights =
        projection_parameters(builder, names, context.width, biased);
    const Sharding out_cut = builder.sharding_of(out_weights);
    LinearShape out_shape{
        builder.part(out_cut == Sharding::Row, context.width, "columns of the attention output"),
        builder.part(out_cut == Sharding::Column, size.hidden, "hidden columns"), out_cut, biased};
    out_shape.adapter = builder.how().lora && builder.how().lora->projection;
    // Fused attention keeps its result; Megatron-LM then has the GEMM keep only that
    // (set_save_original_input), but for delayed scales.
    out_shape.keeps_original = attention != nullptr &&
                               builder.how().attention == AttentionKernel::Flash &&
                               builder.how().low_precision.recipe != Recipe::Fp8Delayed;
    const BranchEnd end(builder, at(names.norm1_after, "ln1_after"),
                        branch_gradient(builder, residual_place, gradients.y));
    out_shape.kept_copy = keep_context_narrow(builder, context.value);
    const std::size_t projection = builder.next_operator();
    const Value product = linear_to_stream(builder, at(names.projection, "attn.proj"), out_shape,
                                           out_weights, context.value, end.product_gradient);
    builder.mark(projection, Module::AttentionProjection);
    if (builder.layer().beside)
        return {residual_place,
                end.close(
                    add_branches(builder, at("mamba", "mamba.add"), product,
                                 state_space_beside(builder, names, opened, end.product_gradient))),
                biased};
    return {residual_place, end.close(product), biased};
}

}  // namespace debubble::models
