#include <algorithm>

#include <fmt/format.h>

#include "models/network/architecture_limits.h"
#include "models/read/layer_file.h"
#include "models/read/layer_reader.h"

namespace debubble::models {
namespace {

using text::custom;
using text::Fields;
using text::flag;
using text::Form;
using text::real;
using text::whole;
using text::word;

/// Precondition: `heads` has been read. The heads of latent attention that a group of layers has
/// from the model keep their width.
void read_head_dim(text::MappingReader& in, std::string_view key, LayerFile& file) {
    LayerKeys& keys = file.keys;
    if (in.whole(key, keys.head_dim, 1, kWidest) || !in.has("heads") || keys.latent) return;
    keys.head_dim = std::max<std::int64_t>(1, file.hidden / keys.heads);
    if (in.good() && !in.has("latent_attention") && file.hidden % keys.heads != 0)
        in.complain(
            "heads",
            fmt::format(
                "{} heads do not divide the hidden size {}; give 'head_dim' if that is intended",
                keys.heads, file.hidden));
}

/// Precondition: `heads` has been read.
void read_kv_heads(text::MappingReader& in, std::string_view key, LayerFile& file) {
    if (in.has("heads")) file.keys.kv_heads = file.keys.heads;
    in.whole(key, file.keys.kv_heads, 1, kMostHeads);
}

struct LatentFile {
    LatentAttention latent;
    std::int64_t head_dim = 1;
    std::int64_t value_dim = 1;
};

const Fields<LatentFile>& latent_fields() {
    static const Fields<LatentFile> kFields{
        {"query_rank",
         zero_unsets(whole(
             [](LatentFile & f) -> auto& { return f.latent.query_rank; }, 0, kWidest)),
         "The rank of the latent query; 0: queries are projected from the hidden state.", "1536",
         "0"},
        {"key_rank",
         text::required(whole(
             [](LatentFile & f) -> auto& { return f.latent.key_rank; }, 1, kWidest)),
         "The rank of the latent from which keys and values are projected.", "512"},
        {"head_dim", text::required(whole(&LatentFile::head_dim, 1, kWidest)),
         "The head dimension of queries and keys without RoPE.", "128"},
        {"rope_dim",
         text::required(whole(
             [](LatentFile & f) -> auto& { return f.latent.rope_dim; }, 1, kWidest)),
         "The head dimension with RoPE, shared by all keys of a token.", "64"},
        {"value_dim", text::required(whole(&LatentFile::value_dim, 1, kWidest)),
         "The head dimension of values.", "128"}};
    return kFields;
}

/// Precondition: heads and head_dim have been read.
void read_latent(text::MappingReader& in, std::string_view key, LayerFile& file) {
    LayerKeys& keys = file.keys;
    if (const text::NodePtr map = in.value(key)) {
        text::MappingReader inner(map, key, in.mistakes());
        LatentFile latent;
        read_fields(inner, latent_fields(), latent);
        inner.finish();
        keys.latent = latent.latent;
        keys.kv_heads = keys.heads;
        keys.head_dim = latent.head_dim + latent.latent.rope_dim;
        keys.value_dim = latent.value_dim;
    }
    if (!keys.latent) return;
    for (const std::string_view other : {"kv_heads", "head_dim"})
        if (in.has(other))
            in.complain(other, fmt::format("latent attention cannot have '{}'", other));
}

const Fields<QueryTemperature>& temperature_fields() {
    static const Fields<QueryTemperature> kFields{
        {"floor", real(&QueryTemperature::floor, 1, 1e9, "tokens"),
         "The number of tokens per scaling step.", "8192"},
        {"scale", real(&QueryTemperature::scale, 0, 1e6), "The factor of the logarithmic scaling.",
         "0.1"}};
    return kFields;
}

void read_temperature(text::MappingReader& in, std::string_view key, LayerFile& file) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader inner(map, key, in.mistakes());
    read_fields(inner, temperature_fields(), file.keys.temperature.emplace());
    inner.finish();
}

const Fields<Indexer>& indexer_fields() {
    static const Fields<Indexer> kFields{
        {"heads", text::required(whole(&Indexer::heads, 1, kMostHeads, "heads")),
         "The number of indexer heads.", "64"},
        {"head_dim", text::required(whole(&Indexer::head_dim, 1, kWidest)),
         "The head dimension of the indexer.", "128"},
        {"weighted", text::flag(&Indexer::weighted),
         "Whether scores are weighted and summed over heads; otherwise each head selects for one "
         "key head.",
         "false"}};
    return kFields;
}

void read_indexer(text::MappingReader& in, std::string_view key, std::optional<Indexer>& indexer) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader inner(map, key, in.mistakes());
    read_fields(inner, indexer_fields(), indexer.emplace());
    inner.finish();
}

void read_choosing_indexer(text::MappingReader& in, std::string_view key, SparseChoice& choice) {
    read_indexer(in, key, choice.indexer);
}

void read_entries_indexer(text::MappingReader& in, std::string_view key, CompressedKeys& keys) {
    read_indexer(in, key, keys.indexer);
}

const Fields<SparseChoice>& sparse_fields() {
    static const Fields<SparseChoice> kFields{
        {"keys", whole(&SparseChoice::keys, 1, kMostPositions, "tokens"),
         "The number of keys a token attends to.", "2048"},
        {"block", whole(&SparseChoice::block, 1, kMostPositions, "tokens"),
         "The number of keys selected as one block.", "128"},
        {"indexer",
         custom(read_choosing_indexer, {Form{text::MapForm{described(indexer_fields())}}}),
         "The indexer that selects them.", "{heads: 64, head_dim: 128}",
         "none: the layer reuses the selection of the last layer that has one"}};
    return kFields;
}

void read_sparse(text::MappingReader& in, std::string_view key, LayerFile& file) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader inner(map, key, in.mistakes());
    read_fields(inner, sparse_fields(), file.keys.sparse.emplace());
    inner.finish();
}

const Fields<CompressedKeys>& compressed_fields() {
    static const Fields<CompressedKeys> kFields{
        {"query_rank", text::required(whole(&CompressedKeys::query_rank, 1, kWidest)),
         "The rank of the latent query.", "1024"},
        {"groups", text::required(whole(&CompressedKeys::groups, 1, kMostHeads)),
         "The number of head groups, each with its own projection before the last one.", "8"},
        {"out_rank", text::required(whole(&CompressedKeys::out_rank, 1, kWidest)),
         "The rank of a group's output.", "1024"},
        {"ratio", zero_unsets(whole(&CompressedKeys::ratio, 0, kMostPositions, "tokens")),
         "The number of tokens compressed into one entry outside the window.", "4",
         "0: only the window"},
        {"chosen", zero_unsets(whole(&CompressedKeys::chosen, 0, kMostPositions)),
         "The maximum number of entries a token attends to.", "512", "0: all earlier ones"},
        {"indexer",
         custom(read_entries_indexer, {Form{text::MapForm{described(indexer_fields())}}}),
         "The indexer that selects entries.", "{heads: 64, head_dim: 128}", "none"}};
    return kFields;
}

void read_compressed(text::MappingReader& in, std::string_view key, LayerFile& file) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader inner(map, key, in.mistakes());
    read_fields(inner, compressed_fields(), file.keys.compressed.emplace());
    inner.finish();
}

void read_scaling(text::MappingReader& in, std::string_view key, LayerFile& file) {
    read_rope_scaling(in, key, file.keys.rope_scaling);
}

}  // namespace

const Fields<LayerFile>& attention_fields() {
    static const Fields<LayerFile> kFields{
        {"heads", whole(of_keys(&LayerKeys::heads), 1, kMostHeads, "heads"),
         "The number of attention heads.", "32", "required"},
        {"kv_heads", custom(read_kv_heads, {Form{text::WholeForm{1, kMostHeads, "heads"}}}),
         "The number of key-value heads (grouped-query attention).", "8", "heads"},
        {"head_dim", custom(read_head_dim, {Form{text::WholeForm{1, kWidest, {}}}}),
         "The head dimension.", "128", "hidden / heads"},
        {"positions", word(&LayerFile::positions, kPositions),
         "The position embedding: a learned table, RoPE, ALiBi or none.", "rope"},
        {"qkv_bias", flag(of_keys(&LayerKeys::qkv_bias)),
         "Whether the QKV projection has biases, independently of the other GEMMs.", "true",
         "linear_bias"},
        {"output_bias", flag(of_keys(&LayerKeys::output_bias)),
         "Whether the attention output projection has a bias, independently of the other GEMMs.",
         "true", "linear_bias"},
        {"rotary_dim", whole(of_keys(&LayerKeys::rotary_dim), 2, kWidest),
         "The number of rotated columns per head.", "64", "all"},
        {"rope_scaling", custom(read_scaling, {rope_scaling_form()}),
         "RoPE scaling for sequences longer than those of the training.",
         "{type: llama3, factor: 8, original_positions: 8192}", "none"},
        {"qk_norm", word(of_keys(&LayerKeys::qk_norm), kQkNorms),
         "RMS norms of queries and keys: none, per head or over the whole width before RoPE, or "
         "per head without weights after RoPE (l2).",
         "heads"},
        {"window", whole(of_keys(&LayerKeys::window), 1, kMostPositions, "tokens"),
         "Sliding window: a token attends to itself and the window - 1 tokens before it.", "4096",
         "none: all earlier tokens"},
        {"chunk", whole(of_keys(&LayerKeys::chunk), 1, kMostPositions, "tokens"),
         "Chunked attention: a token attends to itself and to earlier tokens of its chunk of this "
         "length.",
         "8192", "none: the sequence is one chunk"},
        {"sinks", flag(of_keys(&LayerKeys::sinks)),
         "Attention sinks: every head has a learned logit in the softmax of its scores.", "true"},
        {"score_softcap", real(of_keys(&LayerKeys::score_softcap), kLeastCap, kMostCap),
         "Soft cap of attention scores: cap tanh(score / cap) before the softmax.", "50", "none"},
        {"query_pre_attn_scalar",
         real(of_keys(&LayerKeys::query_pre_attn_scalar), kLeastCap, kMostCap),
         "Scores are divided by the square root of this number.", "168", "head_dim"},
        {"query_temperature",
         custom(read_temperature, {Form{text::MapForm{described(temperature_fields())}}}),
         "Queries are scaled by position, as in Llama 4's layers without RoPE.",
         "{floor: 8192, scale: 0.1}", "none"},
        {"output_gate", flag(of_keys(&LayerKeys::output_gate)),
         "Output gate: the attention output is multiplied by the sigmoid of a gate projected with "
         "the queries.",
         "true"},
        {"head_gate", flag(of_keys(&LayerKeys::head_gate)),
         "Head gate: the output of each head is multiplied by the sigmoid of one logit.", "true"},
        {"keys_are_values", flag(of_keys(&LayerKeys::keys_are_values)),
         "Values are the keys before their norm and RoPE.", "true"},
        {"value_norm", flag(of_keys(&LayerKeys::value_norm)),
         "Values have an RMS norm per head without weights.", "true"},
        {"value_dim", zero_unsets(whole(of_keys(&LayerKeys::value_dim), 0, kWidest)),
         "The head dimension of values outside latent attention.", "128", "0: head_dim"},
        {"sparse_attention", custom(read_sparse, {Form{text::MapForm{described(sparse_fields())}}}),
         "Sparse attention: a token attends to keys selected by an indexer.",
         "{keys: 2048, indexer: {heads: 64, head_dim: 128}}", "none"},
        {"compressed_attention",
         custom(read_compressed, {Form{text::MapForm{described(compressed_fields())}}}),
         "Attention over a window and compressed keys (DeepSeek-V4).",
         "{query_rank: 1024, groups: 8, out_rank: 1024, ratio: 128}", "none"},
        {"latent_attention", custom(read_latent, {Form{text::MapForm{described(latent_fields())}}}),
         "Multi-head latent attention: keys and values are projected from a low-rank latent.",
         "{query_rank: 1536, key_rank: 512, head_dim: 128, rope_dim: 64, value_dim: 128}", "none"},
        {"rope_theta", real(of_keys(&LayerKeys::rope_theta), 1, 1e12), "The RoPE base (theta).",
         "500000"}};
    return kFields;
}

}  // namespace debubble::models
