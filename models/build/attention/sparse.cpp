#include <algorithm>

#include <fmt/format.h>

#include "models/build/attention/core.h"
#include "models/execution/laws.h"

/// Attention over keys that an indexer chooses (DeepSeek-V3.2, arXiv:2512.02556; Megatron-LM
/// d98e8a6, core/transformer/experimental_attention_variant/dsa.py and absorbed_mla.py). The
/// indexer is whole on every tensor-parallel rank and has no backward: its inputs are detached, and
/// no loss of its own is planned. Latent attention runs absorbed: its products out of the latent
/// value are applied to queries and to the result, so that one key of a token serves all heads.
namespace debubble::models {

namespace {

using PlannedKind = op::Planned::Kind;

/// The bytes of an index of a chosen key or block.
constexpr std::int64_t kIndex = 4;

/// The heads' queries, keys and weights of an indexer, its scores and its choice.
struct Choice {
    GraphBuilder& builder;
    const LayerNames& names;
    const SparseChoice& sparse;
    const Indexer& indexer = *sparse.indexer;

    OperatorPlace at(const char* name, const char* kernel) const {
        return {names.prefix + names.attention + ".indexer" + name, kernel, builder.layer_index};
    }
    std::int64_t tokens() const { return builder.size.tokens; }
    Kernel product(const char* name, std::int64_t outputs, std::int64_t inputs) const {
        return gemm(builder, name, builder.layer_index, {1, tokens(), outputs, inputs, {}});
    }
    std::vector<int> parameters(std::int64_t query_inputs) const;
    std::vector<Kernel> kernels(std::int64_t query_inputs, bool narrow) const;
    std::int64_t choices() const;
};

std::vector<int> Choice::parameters(std::int64_t query_inputs) const {
    const std::int64_t hidden = builder.size.hidden;
    const std::int64_t d = indexer.head_dim;
    const auto weight = [&](const char* name, std::vector<std::int64_t> shape) {
        return builder.whole_parameter(at(name, "").name + ".weight", std::move(shape));
    };
    const auto gain = [&](const char* name) {
        return builder.whole_parameter(at(name, "").name + ".weight", {d}, Initial::Ones);
    };
    std::vector<int> all{weight(".wq_b", {indexer.heads * d, query_inputs}),
                         weight(".wk", {d, hidden}), gain(".k_norm")};
    if (indexer.weighted) {
        all.push_back(
            builder.whole_parameter(at(".k_norm", "").name + ".bias", {d}, Initial::Zeros));
        all.push_back(weight(".weights_proj", {indexer.heads, hidden}));
    } else {
        all.push_back(gain(".q_norm"));
    }
    return all;
}

/// Scores of all causal pairs: a product of d columns and, where heads are summed, their weight.
std::vector<Kernel> Choice::kernels(std::int64_t query_inputs, bool narrow) const {
    const Sizes& size = builder.size;
    const std::int64_t n = indexer.heads;
    const std::int64_t d = indexer.head_dim;
    const std::int64_t full = size.full_stream_bytes();
    std::vector<Kernel> all;
    if (size.scattered) {
        all = collective(builder, "indexer.gather", builder.layer_index,
                         Collective::Kind::AllGather, full);
        if (narrow)
            append(all,
                   collective(builder, "indexer.queries.gather", builder.layer_index,
                              Collective::Kind::AllGather, size.element * tokens() * query_inputs));
    }
    append(all, {product("indexer.q", n * d, query_inputs), product("indexer.k", d, size.hidden)});
    if (indexer.weighted) append(all, {product("indexer.weights", n, size.hidden)});
    const std::int64_t keys =
        builder.model().causal ? size.balanced_keys - size.queries / 2 : size.balanced_keys;
    const std::int64_t width = n * (indexer.weighted ? d + 1 : d);
    const std::int64_t scores = 4 * tokens() * keys * (indexer.weighted ? 1 : n);
    Kernel top_k = moves("indexer.top_k", builder.layer_index, scores, kIndex * choices());
    if (sparse.block == 1)
        std::get<Traffic>(top_k.work).busy =
            seconds_of_choice(builder.how().seq_length, 1, sparse.keys, tokens());
    append(all, {gemm(builder, "indexer.scores", builder.layer_index,
                      {size.samples, size.queries, std::max<std::int64_t>(1, keys), width, {}}),
                 std::move(top_k)});
    return all;
}

/// Chosen entries of all of the rank's tokens.
std::int64_t Choice::choices() const {
    const std::int64_t entries = std::min(sparse.keys, builder.size.keys) / sparse.block;
    return tokens() * std::max<std::int64_t>(1, entries) * (indexer.weighted ? 1 : indexer.heads);
}

/// Sequence parallelism gathers what the indexer reads once more.
void add_gathered(const Choice& choice, std::int64_t query_inputs, bool narrow,
                  PlannedParts& parts) {
    GraphBuilder& builder = choice.builder;
    if (!builder.size.scattered) return;
    parts.scratch.push_back(builder.scratch("indexer.gathered", builder.size.full_stream_bytes()));
    if (narrow)
        parts.scratch.push_back(builder.scratch(
            "indexer.queries.gathered", builder.size.element * builder.size.tokens * query_inputs));
}

/// The layer before this one whose indexer chose for it; -1 if the network has none.
int chooser_of(const Architecture& model, int layer) {
    for (int i = layer; i >= 0; --i)
        if (const auto* attention = model.layer_at(i).as<Attention>())
            if (attention->sparse && attention->sparse->indexer) return i;
    return -1;
}

}  // namespace

double seconds_of_choice(std::int64_t length, std::int64_t ratio, std::int64_t chosen,
                         std::int64_t tokens) {
    const double all = static_cast<double>(length) / static_cast<double>(ratio);
    const auto most = static_cast<double>(chosen);
    if (all <= most) return 0;
    const double choosing = static_cast<double>(tokens) * (all - most) / all;
    return choosing * (laws().chosen_row + laws().chosen_key * (all + most) / 2);
}

void choose_keys(GraphBuilder& builder, const LayerNames& names, Value normed,
                 std::optional<Value> narrow_queries) {
    const Attention& attention = builder.attention();
    const SparseChoice& sparse = *attention.sparse;
    if (builder.how().slices > 1)
        builder.refuse("sequence slices are not supported where an indexer selects keys");
    if (!sparse.indexer) {
        const int chooser = chooser_of(builder.model(), builder.layer_index);
        if (!builder.choice && chooser >= 0)
            builder.refuse(
                fmt::format("layer {} reuses the keys selected by layer {}, so both must be in one "
                            "stage: begin a stage at a layer with its own selection, such as {}, "
                            "by parallel.partition",
                            builder.layer_index, chooser, chooser));
        return;
    }
    const Choice choice{builder, names, sparse};
    const bool narrow = narrow_queries.has_value();
    const std::int64_t inputs = narrow ? *attention.latent->query_rank : builder.size.hidden;
    const std::int64_t per_token = sparse.indexer->heads * sparse.indexer->head_dim;
    const std::int64_t element = builder.size.element * builder.size.tokens;
    const int chosen = builder.tensor("indexer.choice", kIndex * choice.choices());
    const int queries = builder.tensor("indexer.q.out", element * per_token);
    const int keys = builder.tensor("indexer.k.out", element * sparse.indexer->head_dim);
    PlannedParts parts{PlannedKind::Indexer, {normed}, {}};
    if (narrow) parts.reads.push_back(*narrow_queries);
    parts.parameters = choice.parameters(inputs);
    parts.saved = {queries, keys, chosen};
    if (sparse.indexer->weighted)
        parts.saved.push_back(
            builder.tensor("indexer.weights.out", element * sparse.indexer->heads));
    add_gathered(choice, inputs, narrow, parts);
    parts.forward = choice.kernels(inputs, narrow);
    add_planned(builder, choice.at("", "indexer"), std::move(parts));
    builder.choice = chosen;
}

namespace {

/// The absorbed attention between queries and result.
struct Absorbed {
    const Latent& part;
    GraphBuilder& builder = part.builder;
    const Attention& attention = part.attention;

    std::int64_t rank() const { return part.latent.key_rank; }
    std::int64_t key_columns() const { return rank() + part.latent.rope_dim; }
    std::int64_t heads() const { return builder.size.heads; }
    std::int64_t tokens() const { return builder.size.tokens; }
    std::int64_t bytes(std::int64_t columns) const {
        return builder.size.element * tokens() * columns;
    }
    Value value(const char* name, std::int64_t columns) const {
        const std::string tensor = name;
        return {builder.tensor(tensor + ".out", bytes(columns)),
                builder.tensor("d." + tensor + ".out", bytes(columns)), builder.size.tensor > 1};
    }
    /// A product for each head with a part of the weight that makes keys and values.
    Kernel head_product(const char* name, std::int64_t m, std::int64_t n, std::int64_t k) const {
        return gemm(builder, name, builder.layer_index, {heads(), m, n, k, {}});
    }
    Value queries(Value from, int weight) const;
    Value keys(Value latent, Value narrow) const;
    Value attended(Value queries, Value keys) const;
    Value values(Value context, int weight) const;
};

Value Absorbed::queries(Value from, int weight) const {
    const Value y = value("attn.absorbed", heads() * key_columns());
    PlannedParts parts{PlannedKind::Copy, {from}, {y}, {weight}, {from.tensor}};
    const std::int64_t own = part.own_columns();
    const std::int64_t moved = bytes(heads() * part.latent.rope_dim);
    parts.forward = {head_product("attn.absorb", tokens(), rank(), own),
                     moves("attn.absorb.rope", builder.layer_index, moved, moved)};
    parts.backward = {head_product("attn.absorb.dx", tokens(), own, rank()),
                      head_product("attn.absorb.dw", rank(), own, tokens()),
                      moves("attn.absorb.rope.dx", builder.layer_index, moved, moved)};
    add_planned(builder, part.at(".kv_b_proj", "attn.absorb"), std::move(parts));
    return y;
}

/// The normed latent value and the rotated columns, of all of the group's tokens.
Value Absorbed::keys(Value latent, Value narrow) const {
    const Value y = value("attn.latent_key", key_columns());
    add_gathered_copy(builder, part.at("", "attn.latent_key"), {latent, narrow}, y,
                      bytes(key_columns()));
    return y;
}

Value Absorbed::attended(Value from, Value key) const {
    const Sizes& size = builder.size;
    const Value y = value("attn.core", heads() * rank());
    const int statistics = builder.tensor("attn.core.log_sum_exp", 4 * tokens() * heads());
    FlashAttention work;
    work.batch = size.samples;
    work.heads = heads();
    work.kv_heads = 1;
    work.queries = size.queries;
    work.keys = size.balanced_keys;
    work.head_dim = key_columns();
    work.narrow_values = rank();
    set_mask(work, mask_of(attention, builder.model().causal));
    work.kernel = FusedAttention::ChosenKeys;
    work.element_bytes = static_cast<int>(size.element);
    if (builder.how().context > 1) {
        FlashAttention whole = work;
        whole.queries = whole.keys = builder.how().seq_length;
        work.keys = static_cast<std::int64_t>(pairs(whole) / static_cast<double>(whole.queries));
        work.causal = false;
    }
    PlannedParts parts{PlannedKind::ChosenScores, {from, key}, {y}};
    parts.saved = {from.tensor, key.tensor, y.tensor, statistics};
    if (builder.choice) parts.saved.push_back(*builder.choice);
    const auto travel = [&](const char* name, Collective::Kind kind) {
        return Kernel{name, builder.layer_index,
                      Collective{kind, Collective::Group::Context,
                                 Bytes{bytes(key_columns()) * builder.how().context}}};
    };
    const bool shares = builder.how().context > 1;
    if (shares) parts.forward.push_back(travel("attn.core.gather", Collective::Kind::AllGather));
    parts.forward.push_back({"attn.core", builder.layer_index, work});
    work.backward = true;
    if (shares) parts.backward.push_back(travel("attn.core.regather", Collective::Kind::AllGather));
    parts.backward.push_back({"attn.core.dx", builder.layer_index, work});
    if (shares)
        parts.backward.push_back(travel("attn.core.scatter", Collective::Kind::ReduceScatter));
    if (shares) {
        const std::int64_t all = bytes(key_columns()) * builder.how().context;
        parts.scratch = {builder.scratch("attn.core.gathered", all)};
        parts.scratch_back = {builder.scratch("attn.core.regathered", all),
                              builder.scratch("d.attn.core.gathered", all)};
    }
    const std::size_t first = builder.next_operator();
    add_planned(builder, part.at("", "attn.core"), std::move(parts));
    builder.mark(first, Module::CoreAttention);
    return y;
}

Value Absorbed::values(Value context, int weight) const {
    const std::int64_t v = attention.value_dim;
    const Value y = value("attn.values", heads() * v);
    PlannedParts parts{PlannedKind::Copy, {context}, {y}, {weight}, {context.tensor}};
    parts.forward = {head_product("attn.unabsorb", tokens(), v, rank())};
    parts.backward = {head_product("attn.unabsorb.dx", tokens(), rank(), v),
                      head_product("attn.unabsorb.dw", v, rank(), tokens())};
    add_planned(builder, part.at(".kv_b_proj", "attn.unabsorb"), std::move(parts));
    return y;
}

}  // namespace

Value sparse_latent_context(GraphBuilder& builder, const LayerNames& names,
                            const Attention& attention, Value normed) {
    builder.cut_heads(true);
    const Latent part{builder, names};
    const LatentAttention& latent = part.latent;
    if (builder.how().attention != AttentionKernel::Flash)
        builder.refuse("sparse attention over selected keys needs fused attention");
    const auto [heads, narrow_queries] = part.queries(normed);
    const Value narrow = part.down(".kv_a_proj_with_mqa", "attn.kv_down", normed,
                                   latent.key_rank + latent.rope_dim, false);
    const Value key = part.normed(".kv_a_layernorm", "attn.kv_norm", narrow, latent.key_rank);
    choose_keys(builder, names, normed, narrow_queries);
    const std::string name = part.at(".kv_b_proj", "").name + ".weight";
    const int weight = builder.parameter(
        {name,
         {attention.heads * (part.own_columns() + attention.value_dim), latent.key_rank},
         builder.sharding_of(name, {Sharding::Column}),
         0,
         1,
         {}});
    const Absorbed absorbed{part};
    const Value queries = absorbed.queries(heads, weight);
    const Value keys = absorbed.keys(key, narrow);
    return absorbed.values(absorbed.attended(queries, keys), weight);
}

}  // namespace debubble::models
