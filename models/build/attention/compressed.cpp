#include <algorithm>

#include "models/build/attention/core.h"

/// Attention of DeepSeek-V4: queries from a narrow value, one key of a token that is its value too,
/// a window, and entries that each stand for some tokens, chosen by an indexer or all that lie
/// before. The result is turned back, and groups of heads go through products of their own.
/// Queries, sinks and the last product are cut by heads; all else is whole on every tensor-parallel
/// rank (Megatron-Bridge 067f987, deepseek/deepseek_v4_bridge.py).
namespace debubble::models {

namespace {

using PlannedKind = op::Planned::Kind;

struct Compressed {
    GraphBuilder& builder;
    const LayerNames& names;
    const Attention& attention;
    const CompressedKeys& keys = *attention.compressed;

    OperatorPlace at(const char* name, const char* kernel) const {
        return {names.prefix + names.attention + name, kernel, builder.layer_index};
    }
    std::int64_t tokens() const { return builder.size.tokens; }
    std::int64_t d() const { return attention.head_dim; }
    std::int64_t bytes(std::int64_t columns) const {
        return builder.size.element * tokens() * columns;
    }
    std::int64_t entries() const { return keys.ratio ? tokens() / *keys.ratio : 0; }
    Value value(const std::string& kernel, std::int64_t columns) const {
        return {builder.tensor(kernel + ".out", bytes(columns)),
                builder.tensor("d." + kernel + ".out", bytes(columns)), builder.size.tensor > 1};
    }
    Value down(const char* name, const char* kernel, Value x, std::int64_t outputs,
               bool adds) const;
    Value queries(Value narrow) const;
    Value key(Value narrow) const;
    int compressor(const char* name, std::int64_t width, std::vector<int>& parameters) const;
    void add_products(PlannedParts& parts, std::int64_t width) const;
    Value compress(Value normed, Value key) const;
    void index(Value normed, Value narrow) const;
    Value attended(Value queries, Value key) const;
    Value turned_back(Value context) const;
    Value grouped(Value context) const;
    double mean_entries() const;
};

Value Compressed::down(const char* name, const char* kernel, Value x, std::int64_t outputs,
                       bool adds) const {
    const std::int64_t hidden = builder.size.hidden;
    const int weight =
        builder.whole_parameter(at(name, kernel).name + ".weight", {outputs, hidden});
    LinearShape shape{hidden, outputs, Sharding::Replicated};
    shape.rows = builder.size.stream_tokens;
    shape.adds_gradient = adds;
    return linear(builder, at(name, kernel), shape, {{weight}, {}}, x);
}

/// A norm of every head without weights, and its rotation.
Value Compressed::queries(Value narrow) const {
    const std::string name = at(".q_b_proj", "").name + ".weight";
    const int weight = builder.parameter({name,
                                          {attention.query_width(), keys.query_rank},
                                          builder.sharding_of(name, {Sharding::Column}),
                                          0,
                                          1,
                                          {}});
    const Value wide = linear(builder, at(".q_b_proj", "attn.q_up"),
                              {keys.query_rank, builder.size.query_width, Sharding::Column},
                              {{weight}, {}}, narrow);
    const std::int64_t moved = bytes(builder.size.query_width);
    const Value y = value("attn.q_norm", builder.size.query_width);
    PlannedParts parts{PlannedKind::ScaleNorm, {wide}, {y}};
    parts.saved = {wide.tensor};
    parts.forward = {moves("attn.q_heads", builder.layer_index, moved, moved)};
    parts.backward = {moves("attn.q_heads.dx", builder.layer_index, 2 * moved, moved)};
    add_planned(builder, at("", "attn.q_heads"), std::move(parts));
    return y;
}

/// The normed and rotated key of all tokens of the tensor-parallel group.
Value Compressed::key(Value narrow) const {
    const Value y = value("attn.key", d());
    add_gathered_copy(builder, at("", "attn.key"), {narrow}, y, bytes(d()));
    return y;
}

/// The parameters of a compressor into entries of `width` columns; returns what its products keep
/// in fp32: keys and gates before their mean.
int Compressed::compressor(const char* name, std::int64_t width,
                           std::vector<int>& parameters) const {
    const std::int64_t wide = keys.overlap() * width;
    const std::string of = at(name, "").name;
    parameters.push_back(
        builder.whole_parameter(of + ".kv_proj.weight", {wide, builder.size.hidden}));
    parameters.push_back(
        builder.whole_parameter(of + ".gate_proj.weight", {wide, builder.size.hidden}));
    parameters.push_back(
        builder.whole_parameter(of + ".position_bias", {*keys.ratio, wide}, Initial::Zeros));
    parameters.push_back(builder.whole_parameter(of + ".norm.weight", {width}, Initial::Ones));
    return builder.tensor(of.substr(names.prefix.size()) + ".products", 4 * tokens() * 2 * wide);
}

/// The two products of a compressor with `width` columns, over all tokens, and the means.
void Compressed::add_products(PlannedParts& parts, std::int64_t width) const {
    const std::int64_t wide = 2 * keys.overlap() * width;
    const auto product = [&](const char* name, std::int64_t m, std::int64_t n, std::int64_t k) {
        return gemm(builder, name, builder.layer_index, {1, m, n, k, {}});
    };
    const std::int64_t read = 4 * tokens() * wide;
    const std::int64_t hidden = builder.size.hidden;
    append(parts.forward, {product("compress.kv", tokens(), wide, hidden),
                           moves("compress.mean", builder.layer_index, read,
                                 builder.size.element * entries() * width)});
    append(parts.backward, {moves("compress.mean.dx", builder.layer_index, read, read),
                            product("compress.kv.dx", tokens(), hidden, wide),
                            product("compress.kv.dw", wide, hidden, tokens())});
}

/// Keys and entries concatenated.
Value Compressed::compress(Value normed, Value key) const {
    const Sizes& size = builder.size;
    const std::int64_t rows = size.element * (tokens() + entries()) * d();
    const Value y{builder.tensor("compress.out", rows), builder.tensor("d.compress.out", rows)};
    PlannedParts parts{PlannedKind::Compress, {normed, key}, {y}};
    parts.saved = {compressor(".compressor", d(), parts.parameters)};
    if (size.scattered) {
        append(parts.forward, collective(builder, "compress.gather", builder.layer_index,
                                         Collective::Kind::AllGather, size.full_stream_bytes()));
        append(parts.backward,
               collective(builder, "compress.scatter", builder.layer_index,
                          Collective::Kind::ReduceScatter, size.full_stream_bytes()));
        parts.scratch = {builder.scratch("compress.gathered", size.full_stream_bytes())};
        parts.scratch_back = {builder.scratch("d.compress.gathered", size.full_stream_bytes())};
    }
    add_products(parts, d());
    add_planned(builder, at(".compressor", "compress"), std::move(parts));
    return y;
}

/// Scores of all entries before a token, and the best of them. It has no backward.
void Compressed::index(Value normed, Value narrow) const {
    const Indexer& indexer = *keys.indexer;
    const std::int64_t n = indexer.heads;
    const std::int64_t width = indexer.head_dim;
    PlannedParts parts{PlannedKind::Indexer, {normed, narrow}, {}};
    const std::string of = at(".indexer", "").name;
    parts.saved = {compressor(".indexer", width, parts.parameters)};
    parts.parameters.push_back(
        builder.whole_parameter(of + ".q_b_proj.weight", {n * width, keys.query_rank}));
    parts.parameters.push_back(
        builder.whole_parameter(of + ".weights_proj.weight", {n, builder.size.hidden}));
    const std::int64_t chosen =
        tokens() * std::min(keys.chosen.value_or(0),
                            std::max<std::int64_t>(1, builder.size.keys / *keys.ratio));
    const int choice = builder.tensor("indexer.choice", 4 * chosen);
    parts.saved.push_back(choice);
    add_products(parts, width);
    parts.backward.clear();
    const auto product = [&](const char* name, std::int64_t outputs, std::int64_t inputs) {
        return gemm(builder, name, builder.layer_index, {1, tokens(), outputs, inputs, {}});
    };
    const std::int64_t seen = std::max<std::int64_t>(1, builder.how().seq_length / *keys.ratio / 2);
    append(parts.forward,
           {product("indexer.q", n * width, keys.query_rank),
            product("indexer.weights", n, builder.size.hidden),
            gemm(builder, "indexer.scores", builder.layer_index,
                 {builder.size.samples, builder.size.queries, seen, n * (width + 1), {}}),
            moves("indexer.top_k", builder.layer_index, 4 * tokens() * seen, 4 * chosen)});
    std::get<Traffic>(parts.forward.back().work).busy =
        seconds_of_choice(builder.how().seq_length, *keys.ratio, keys.chosen.value_or(0), tokens());
    add_planned(builder, at(".indexer", "indexer"), std::move(parts));
    builder.choice = choice;
}

/// Entries that a token sees, on average over the sequence.
double Compressed::mean_entries() const {
    const auto length = static_cast<double>(builder.how().seq_length);
    return entries_seen(keys, length) / length;
}

Value Compressed::attended(Value queries, Value key) const {
    const Sizes& size = builder.size;
    const Value y = value("attn.core", size.context_width);
    PlannedParts parts{PlannedKind::ChosenScores, {queries, key}, {y}};
    const bool cut = size.heads != attention.heads;
    parts.parameters = {builder.parameter({at(".sinks", "").name,
                                           {attention.heads},
                                           cut ? Sharding::Column : Sharding::Replicated,
                                           0,
                                           1,
                                           {}})};
    parts.saved = {queries.tensor, key.tensor, y.tensor,
                   builder.tensor("attn.core.log_sum_exp", 4 * tokens() * size.heads)};
    if (keys.indexer) parts.saved.push_back(*builder.choice);
    // One kernel has the window and the entries (NVIDIA-NeMo/Automodel 36044ad,
    // components/models/deepseek_v4/kernels/sparse_attention.py): as many pairs as if so many keys
    // stood before the sequence and the window were as much longer.
    const std::int64_t far =
        keys.ratio ? std::max<std::int64_t>(1, static_cast<std::int64_t>(mean_entries() + 0.5)) : 0;
    FlashAttention seen;
    seen.batch = size.samples;
    seen.heads = size.heads;
    seen.kv_heads = 1;
    seen.queries = size.queries;
    seen.keys = size.queries + far;  // of whole tokens; a rank's shard begins with those before it
    seen.head_dim = d();
    if (attention.window) set_mask(seen, WindowMask{*attention.window + far});
    seen.kernel = FusedAttention::ChosenKeys;
    seen.element_bytes = static_cast<int>(size.element);
    const bool shares = builder.how().context > 1;
    const std::int64_t sent = size.element * (tokens() + entries()) * d() * builder.how().context;
    const auto travel = [&](const char* name, Collective::Kind kind) {
        return Kernel{name, builder.layer_index,
                      Collective{kind, Collective::Group::Context, Bytes{sent}}};
    };
    if (shares) {
        parts.forward.push_back(travel("attn.core.gather", Collective::Kind::AllGather));
        parts.backward.push_back(travel("attn.core.regather", Collective::Kind::AllGather));
        parts.scratch = {builder.scratch("attn.core.gathered", sent)};
        parts.scratch_back = {builder.scratch("attn.core.regathered", sent),
                              builder.scratch("d.attn.core.gathered", sent)};
    }
    parts.forward.push_back({"attn.core", builder.layer_index, seen});
    seen.backward = true;
    parts.backward.push_back({"attn.core.dx", builder.layer_index, seen});
    if (shares)
        parts.backward.push_back(travel("attn.core.scatter", Collective::Kind::ReduceScatter));
    const std::size_t first = builder.next_operator();
    add_planned(builder, at("", "attn.core"), std::move(parts));
    builder.mark(first, Module::CoreAttention);
    return y;
}

/// The rotated columns of the result are turned back by the query's position.
Value Compressed::turned_back(Value context) const {
    const Value y = value("attn.turned", builder.size.context_width);
    PlannedParts parts{PlannedKind::Copy, {context}, {y}};
    const std::int64_t moved = bytes(builder.size.context_width);
    parts.forward = {moves("attn.turned", builder.layer_index, moved, moved)};
    parts.backward = {moves("attn.turned.dx", builder.layer_index, moved, moved)};
    add_planned(builder, at("", "attn.turned"), std::move(parts));
    return y;
}

/// The rank's groups of heads through the products into their narrow results; the weight is whole.
Value Compressed::grouped(Value context) const {
    const std::int64_t mine = builder.part(builder.size.tensor > 1, keys.groups, "groups of heads");
    const std::int64_t columns = attention.context_width() / keys.groups;
    const Value y = value("attn.groups", mine * keys.out_rank);
    const OperatorPlace place = at(".o_a_proj", "attn.groups");
    PlannedParts parts{PlannedKind::Copy, {context}, {y}};
    const int weight =
        builder.whole_parameter(place.name + ".weight", {keys.groups * keys.out_rank, columns});
    builder.graph.parameters[weight].of_own_heads = builder.size.tensor > 1;
    parts.parameters = {weight};
    parts.saved = {context.tensor};
    const auto product = [&](const char* name, std::int64_t m, std::int64_t n, std::int64_t k) {
        return gemm(builder, name, builder.layer_index, {mine, m, n, k, {}});
    };
    parts.forward = {product("attn.groups", tokens(), keys.out_rank, columns)};
    parts.backward = {product("attn.groups.dx", tokens(), columns, keys.out_rank),
                      product("attn.groups.dw", keys.out_rank, columns, tokens())};
    add_planned(builder, place, std::move(parts));
    return y;
}

}  // namespace

Value compressed_context(GraphBuilder& builder, const LayerNames& names, const Attention& attention,
                         Value normed) {
    if (builder.how().slices > 1)
        builder.refuse("sequence slices are not supported with compressed keys");
    if (builder.how().attention != AttentionKernel::Flash)
        builder.refuse("attention over compressed keys needs fused attention");
    builder.size.heads = builder.part(builder.size.tensor > 1, attention.heads, "heads");
    builder.size.query_width = builder.size.context_width = builder.size.heads * attention.head_dim;
    builder.size.key_width = builder.size.value_width = attention.head_dim;
    const Compressed part{builder, names, attention};
    const CompressedKeys& keys = part.keys;
    const Value down = part.down(".q_a_proj", "attn.q_down", normed, keys.query_rank, true);
    const Value narrow = norm_of_columns(
        builder, part.at(".q_a_norm", "attn.q_norm_down"),
        builder.norm_weight(part.at(".q_a_norm", "").name + ".weight", keys.query_rank), down,
        keys.query_rank);
    const Value queries = part.queries(narrow);
    const Value kv = part.down(".kv_proj", "attn.kv_down", normed, attention.head_dim, false);
    const Value normed_key = norm_of_columns(
        builder, part.at(".kv_norm", "attn.kv_norm"),
        builder.norm_weight(part.at(".kv_norm", "").name + ".weight", attention.head_dim), kv,
        attention.head_dim);
    Value key = part.key(normed_key);
    if (keys.ratio) key = part.compress(normed, key);
    if (keys.indexer) part.index(normed, narrow);
    return part.grouped(part.turned_back(part.attended(queries, key)));
}

}  // namespace debubble::models
