#include "base/overloaded.h"
#include "models/graph_builder.h"
#include "models/layer_names.h"

namespace debubble::models {

namespace {

void append_uses(std::vector<int>& uses, std::initializer_list<int> more) {
    uses.insert(uses.end(), more);
}

/// The attention core of one layer: its inputs and its gradients.
struct Core {
    GraphBuilder& builder;
    OperatorPlace place;
    models::op::Value qkv;
    Value out;  ///< context, [T, q]
    Operator op;
    models::op::Attention roles;

    std::int64_t out_bytes() const {
        return builder.size.element * builder.size.tokens * builder.size.context_width;
    }
    std::int64_t scores() const {
        const Sizes& size = builder.size;
        return size.samples * size.heads * size.queries * size.keys;
    }
    /// Keys and values of this rank's tokens.
    std::int64_t chunk() const {
        return builder.size.element * builder.size.tokens *
               (builder.size.key_width + builder.size.value_width);
    }
    bool drops() const {
        return builder.how().attention_dropout || builder.how().kernels.dropout_masks_always;
    }
    Kernel product(const char* suffix, std::int64_t m, std::int64_t n, std::int64_t k) const {
        const Sizes& size = builder.size;
        return gemm(builder, place.kernel + suffix, place.layer,
                    {size.samples * size.heads, m, n, k, {}});
    }

    void flash();
    void cast_heads();
    void see_less(FlashAttention& work) const;
    void add_sinks();
    void unfused();
    models::op::Probabilities probabilities(const char* suffix) const;
    void unfused_forward(std::vector<Kernel>& kernels, std::vector<int>& uses,
                         const models::op::Probabilities& kept) const;
    void context_parallel();
    Kernel travel(const char* suffix, Collective work) const;
    void ring();
    void gathered_keys();
    void earlier_slices();
};

void Core::flash() {
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
    const LowPrecision& narrow = builder.how().low_precision;
    work.narrow = narrow.attention && place.layer && narrow.quantises(*place.layer);
    op.forward = {{place.kernel, place.layer.value_or(-1), work}};
    work.backward = true;
    op.backward_input = {{place.kernel + ".dx", place.layer.value_or(-1), work}};
    if (work.narrow) cast_heads();
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

/// Attention in 8 bits reads casts of queries, keys, values and of the result's gradient.
void Core::cast_heads() {
    const Sizes& size = builder.size;
    const std::int64_t heads = size.tokens * (size.query_width + size.key_width + size.value_width);
    const std::int64_t context = size.tokens * size.context_width;
    const auto casts = [&](const char* suffix, std::int64_t elements) {
        return moves(place.kernel + suffix, place.layer, size.element * elements, elements);
    };
    op.forward.insert(op.forward.begin(), casts(".cast", heads));
    op.backward_input.insert(op.backward_input.begin(), casts(".dy.cast", context));
}

/// Windows and chunks. Context-parallel ranks have queries from all over the slice, which see as
/// many keys as its mean.
void Core::see_less(FlashAttention& work) const {
    const Attention& attention = builder.attention();
    if (!attention.window && !attention.chunk) return;
    const Execution& how = builder.how();
    work.window = attention.window.value_or(0);
    work.chunk = attention.chunk.value_or(0);
    if (how.context == 1 || exchanges_heads(how)) return;
    FlashAttention slice = work;
    slice.queries = how.seq_length / how.slices;
    slice.keys = slice.queries * (how.slice + 1);
    work.causal = false;
    work.keys = static_cast<std::int64_t>(pairs(slice) / static_cast<double>(slice.queries));
}

/// A logit of each head, cut with the heads.
void Core::add_sinks() {
    const Attention& attention = builder.attention();
    if (builder.how().attention == AttentionKernel::Unfused) {
        if (attention.sinks) builder.refuse("attention sinks are planned in fused attention alone");
        if (attention.score_softcap)
            builder.refuse("soft-caps of scores are planned in fused attention alone");
    }
    if (!attention.sinks) return;
    const std::string name = place.name + ".sinks";
    const bool cut = builder.size.query_width != attention.query_width();
    Parameter sinks{name, {attention.heads}, cut ? Sharding::Column : Sharding::Replicated, 0, 1,
                    {}};
    roles.sinks = builder.parameter(std::move(sinks));
    op.parameters = {*roles.sinks};
}

op::Probabilities Core::probabilities(const char* suffix) const {
    const std::int64_t element = builder.size.element;
    op::Probabilities kept;
    kept.softmax = builder.tensor(place.kernel + ".softmax" + suffix, element * scores());
    if (!drops()) return kept;
    kept.mask = builder.tensor(place.kernel + ".mask" + suffix, scores());
    kept.dropped = builder.tensor(place.kernel + ".dropped" + suffix, element * scores());
    return kept;
}

std::vector<int> tensors_of(const op::Probabilities& kept) {
    if (!kept.mask) return {kept.softmax};
    return {kept.softmax, *kept.mask, *kept.dropped};
}

/// Scores, softmax, dropout and context as separate kernels. The bytes per score, 11 forward and 13
/// backward in all with dropout, include a softmax that reads twice.
void Core::unfused_forward(std::vector<Kernel>& kernels, std::vector<int>& uses,
                           const models::op::Probabilities& kept) const {
    const Sizes& size = builder.size;
    const std::int64_t e = size.element;
    const std::int64_t d = builder.attention().head_dim;
    const std::int64_t v = builder.attention().value_dim;
    kernels.push_back(product(".scores", size.queries, size.keys, d));
    kernels.push_back(
        moves(place.kernel + ".softmax", place.layer, 2 * e * scores(), e * scores()));
    if (drops()) {
        kernels.push_back(
            moves(place.kernel + ".dropout", place.layer, e * scores(), (e + 1) * scores()));
    }
    kernels.push_back(product(".context", size.queries, v, size.keys));
    kernels.push_back(moves(place.kernel + ".copy", place.layer, out_bytes(), out_bytes()));
    uses.push_back(qkv.tensor);
    for (const int tensor : tensors_of(kept)) uses.push_back(tensor);
}

void Core::unfused() {
    const Sizes& size = builder.size;
    const std::int64_t e = size.element;
    const std::int64_t d = builder.attention().head_dim;
    const std::int64_t v = builder.attention().value_dim;
    op::UnfusedKernel kernel;
    kernel.forward = kernel.backward = probabilities("");
    unfused_forward(op.forward, op.forward_uses, kernel.forward);
    kernel.scores = builder.scratch(place.kernel + ".scores", e * scores());
    op.forward_uses.push_back(kernel.scores);
    op.forward_uses.push_back(out.tensor);
    op.saved = {qkv.tensor};
    op.backward_input_uses = {out.gradient};
    if (builder.how().recompute == Recompute::Selective) {
        kernel.backward = probabilities(".again");
        unfused_forward(op.backward_input, op.backward_input_uses, kernel.backward);
    } else {
        for (const int tensor : tensors_of(kernel.forward)) op.saved.push_back(tensor);
        op.backward_input_uses.insert(op.backward_input_uses.end(), op.saved.begin(),
                                      op.saved.end());
    }
    append(op.backward_input,
           {moves(place.kernel + ".copy.dx", place.layer, out_bytes(), out_bytes()),
            product(".probabilities.dx", size.queries, size.keys, v),
            product(".values.dx", size.keys, v, size.queries)});
    if (drops()) {
        op.backward_input.push_back(
            moves(place.kernel + ".dropout.dx", place.layer, (e + 1) * scores(), e * scores()));
    }
    append(op.backward_input,
           {moves(place.kernel + ".softmax.dx", place.layer, 3 * e * scores(), e * scores()),
            product(".queries.dx", size.queries, d, size.keys),
            product(".keys.dx", size.keys, d, size.queries)});
    kernel.probabilities_gradient =
        builder.scratch("d." + place.kernel + ".probabilities", e * scores());
    kernel.scores_gradient = builder.scratch("d." + place.kernel + ".scores", e * scores());
    append_uses(op.backward_input_uses,
                {kernel.probabilities_gradient, kernel.scores_gradient, qkv.gradient});
    roles.kernel = kernel;
}

/// The additions of context parallelism: between the ranks of the group, keys and values of the
/// slices up to this one go one way and their gradients the other.
void Core::context_parallel() {
    const Execution& how = builder.how();
    if (how.context == 1 || exchanges_heads(how)) return;
    if (how.kernels.context_communication == ContextCommunication::P2p) {
        ring();
    } else {
        gathered_keys();
    }
}

Kernel Core::travel(const char* suffix, Collective work) const {
    work.group = Collective::Group::Context;
    return {place.kernel + suffix, place.layer.value_or(-1), work};
}

/// Two chunks are held at a time, one on its way during the attention over the other.
void Core::ring() {
    const std::int64_t slices = builder.how().slice + 1, held = 2 * chunk() * slices;
    const std::int64_t all = chunk() * builder.how().context * slices;
    op::RingKeys keys;
    keys.forward = builder.scratch(place.kernel + ".kv.chunks", held);
    keys.backward = builder.scratch(place.kernel + ".kv.rechunks", held);
    keys.gradient = builder.scratch("d." + place.kernel + ".kv", held);
    op.forward_uses.push_back(keys.forward);
    append_uses(op.backward_input_uses, {keys.backward, keys.gradient});
    roles.ring = keys;
    Collective there{Collective::Kind::AllGather, {}, Bytes{all}};
    Collective back{Collective::Kind::ReduceScatter, {}, Bytes{all}};
    there.pieces = Collective::Pieces::OfNext;
    back.pieces = Collective::Pieces::OfPrevious;
    op.forward.insert(op.forward.begin(), travel(".kv.gather", there));
    op.backward_input.insert(op.backward_input.begin(), travel(".kv.regather", there));
    op.backward_input.push_back(travel(".dkv.scatter", back));
}

/// All keys and values are gathered, slice by slice as ranks send them, and then in the order of
/// the sequence; gradients use the memory of what was sent. Sums over later slices are added to.
void Core::gathered_keys() {
    const int slices = builder.how().slice + 1;
    const std::int64_t sent = chunk() * builder.how().context, seen = sent * slices;
    const auto joins = [&](const char* suffix) {
        return moves(place.kernel + suffix, place.layer, seen, seen);
    };
    const Collective there{Collective::Kind::AllGather, {}, Bytes{sent}, 0, slices};
    const Collective back{Collective::Kind::ReduceScatter, {}, Bytes{sent}, 0, slices};
    op::GatheredKeys keys;
    keys.sent = builder.scratch(place.kernel + ".kv.gathered", sent);
    keys.joined = builder.scratch(place.kernel + ".kv.joined", seen);
    keys.sent_again = builder.scratch(place.kernel + ".kv.regathered", sent);
    keys.joined_again = builder.scratch(place.kernel + ".kv.rejoined", seen);
    keys.joined_gradient = builder.scratch("d." + place.kernel + ".kv.joined", seen);
    roles.gathered = keys;
    append_uses(op.forward_uses, {keys.sent, keys.joined});
    append_uses(op.backward_input_uses, {keys.sent_again, keys.joined_again, keys.joined_gradient});
    op.forward.insert(op.forward.begin(), {travel(".kv.gather", there), joins(".kv.join")});
    op.backward_input.insert(op.backward_input.begin(),
                             {travel(".kv.regather", there), joins(".kv.rejoin")});
    append(op.backward_input, {joins(".dkv.part"), travel(".dkv.scatter", back)});
    if (builder.how().slices == 1) return;
    // Tensors have the same indices in all slices.
    const int one = builder.scratch("d." + place.kernel + ".kv.chunk", chunk());
    if (slices == builder.how().slices)
        return;  // the first slice to come: there is nothing to add
                 // to
    roles.gathered->chunk_gradient = one;
    op.backward_input_uses.push_back(one);
    op.backward_input.push_back(
        moves(place.kernel + ".dkv.add", place.layer, 2 * chunk() * slices, chunk() * slices));
}

/// Keys and values of the slices up to this one are put side by side, and their gradients
/// taken apart again: every slice holds its own.
void Core::earlier_slices() {
    if (!roles.in.keys) return;
    const models::op::Value own = *roles.in.keys;
    op.inputs.push_back(own.tensor);
    op.saved.push_back(own.tensor);
    op.forward_uses.push_back(own.tensor);
    append_uses(op.backward_input_uses, {own.tensor, own.gradient});
    const std::int64_t slices = builder.how().slice + 1;
    const std::int64_t seen = chunk() * slices;
    const auto joins = [&](const char* suffix) {
        return moves(place.kernel + suffix, place.layer, seen, seen);
    };
    const Execution& how = builder.how();
    if (how.context > 1 && how.kernels.context_communication == ContextCommunication::AllGather)
        return;  // they come together with those of the other ranks
    // Tensors have the same indices in all slices.
    op::SeenKeys keys;
    keys.forward = builder.scratch(place.kernel + ".keys.seen", seen);
    keys.backward = builder.scratch(place.kernel + ".keys.seen.again", seen);
    keys.gradient = builder.scratch("d." + place.kernel + ".keys.seen", seen);
    if (slices == 1) return;
    roles.seen = keys;
    op.forward_uses.push_back(keys.forward);
    op.forward.insert(op.forward.begin(), joins(".keys.join"));
    append_uses(op.backward_input_uses, {keys.backward, keys.gradient});
    op.backward_input.insert(op.backward_input.begin(),
                             {joins(".keys.rejoin"), joins(".dkeys.join")});
    op.backward_input.push_back(joins(".dkeys.part"));
}

Value core(GraphBuilder& builder, const OperatorPlace& place, const op::Heads& split,
           Value packed) {
    const op::Value qkv = split.queries;
    const std::int64_t bytes =
        builder.size.element * builder.size.tokens * builder.size.context_width;
    const Value out{builder.tensor(place.kernel + ".out", bytes),
                    builder.tensor("d." + place.kernel + ".out", bytes), packed.cut};
    Core part{builder, place, qkv, out, start(place), {split, out}};
    part.op.inputs = {qkv.tensor};
    if (builder.how().attention == AttentionKernel::Flash) {
        part.flash();
    } else {
        part.unfused();
    }
    part.add_sinks();
    part.context_parallel();
    part.earlier_slices();
    // Values that were exchanged are not a view of the packed product.
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

/// Puts the heads side by side again, in a tensor of their own.
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

/// The core, with the exchanges before and after it where ranks exchange tokens for heads, and a
/// copy of its result where the framework makes one. `place` names the parts.
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
        split.queries = exchanged(builder, at(".exchange"), queries,
                                  own.query_width + own.key_width + own.value_width);
        builder.size = with_whole_sequences(builder);
        split.heads = builder.size.heads;
        split.kv_heads = builder.size.kv_heads;
    }
    const std::size_t attention = builder.graph.operators.size();
    Value context = core(builder, at(".core"), split, packed);
    builder.size = own;
    if (exchanges) {
        context = exchanged(builder, at(".return"), context, own.context_width);
        if (!how.kernels.context_output_copy) exchange_again(builder, attention, context);
    }
    builder.mark(first, Module::CoreAttention);
    return how.kernels.attention_copies ? copy_context(builder, at(".copy"), context) : context;
}

/// Queries, keys and values by one product.
SplitValue packed_heads(GraphBuilder& builder, const LayerNames& names, Value normed) {
    const Sizes& size = builder.size;
    const auto at = [&](const std::string& name, const char* kernel) {
        return OperatorPlace{names.prefix + name, kernel, builder.layer_index};
    };
    const LinearParameters weights = qkv_parameters(builder, names);
    const Sharding cut = builder.sharding_of(weights);
    builder.cut_heads(cut == Sharding::Column);
    LinearShape shape{
        builder.part(cut == Sharding::Row, size.hidden, "hidden columns"),
        (builder.attention().output_gate ? 2 : 1) * size.query_width + 2 * size.key_width, cut,
        builder.attention().qkv_bias};
    shape.after_norm = builder.layer().norms != NormPosition::After;
    shape.adapter = builder.how().lora.qkv;
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

Value attention_context(GraphBuilder& builder, const LayerNames& names, const Attention& attention,
                        Value normed) {
    const auto at = [&](const char* kernel) {
        return OperatorPlace{names.prefix + names.attention, kernel, builder.layer_index};
    };
    const auto [split, packed, gate] = attention.latent ? latent_heads(builder, names, normed)
                                                        : packed_heads(builder, names, normed);
    const Value context = attend(builder, at("attn"), split, packed);
    return gate ? gate_context(builder, at("attn.gate"), context, *gate) : context;
}

/// What the layer's last product reads, and its columns over all ranks.
struct Context {
    Value value;
    std::int64_t width = 1;
};

Context context_of(GraphBuilder& builder, const LayerNames& names, Value normed) {
    return std::visit(
        Overloaded{[&](const Attention& attention) -> Context {
                       return {attention_context(builder, names, attention, normed),
                               attention.context_width()};
                   },
                   [&](const Mamba& mamba) -> Context {
                       return {mamba_context(builder, names, mamba, normed), mamba.inner()};
                   },
                   [&](const DeltaNet& net) -> Context {
                       return {delta_net_context(builder, names, net, normed), net.value_width()};
                   },
                   [&](const NoMixer&) -> Context {
                       return {normed, builder.size.hidden};
                   }},
        builder.layer().mixer);
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
    const Context context = context_of(builder, names, opened);
    const OperatorPlace residual_place = at(names.attention, "attn.residual");
    const LinearParameters out_weights =
        projection_parameters(builder, names, context.width, biased);
    const Sharding out_cut = builder.sharding_of(out_weights);
    LinearShape out_shape{
        builder.part(out_cut == Sharding::Row, context.width, "columns of the context"),
        builder.part(out_cut == Sharding::Column, size.hidden, "hidden columns"), out_cut, biased};
    out_shape.adapter = builder.how().lora.projection;
    // Fused attention keeps its result; Megatron-LM then has the product keep that alone
    // (set_save_original_input), but for delayed scales.
    out_shape.keeps_original = attention != nullptr &&
                               builder.how().attention == AttentionKernel::Flash &&
                               builder.how().low_precision.recipe != Recipe::Fp8Delayed;
    const BranchEnd end(builder, at(names.norm1_after, "ln1_after"),
                        branch_gradient(builder, residual_place, gradients.y));
    const std::size_t projection = builder.next_operator();
    const Value product = linear_to_stream(builder, at(names.projection, "attn.proj"), out_shape,
                                           out_weights, context.value, end.product_gradient);
    builder.mark(projection, Module::AttentionProjection);
    return {residual_place, end.close(product), biased};
}

}  // namespace debubble::models
