#include <algorithm>

#include <fmt/format.h>

#include "models/network/architecture_limits.h"
#include "models/read/layer_file.h"
#include "models/read/rope_scaling_reader.h"

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
        in.complain("heads", fmt::format("{} heads do not divide the {} of 'hidden'; give "
                                         "'head_dim' if that is intended",
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
         whole(
             [](LatentFile & f) -> auto& { return f.latent.query_rank; }, 0, kWidest),
         "The width of the value from which queries are made; 0: they are made from the hidden "
         "state.",
         "1536", "0"},
        {"key_rank",
         text::required(whole(
             [](LatentFile & f) -> auto& { return f.latent.key_rank; }, 1, kWidest)),
         "The width of the value from which keys and values are made.", "512"},
        {"head_dim", text::required(whole(&LatentFile::head_dim, 1, kWidest)),
         "The columns of a head's queries and keys that are not rotated.", "128"},
        {"rope_dim",
         text::required(whole(
             [](LatentFile & f) -> auto& { return f.latent.rope_dim; }, 1, kWidest)),
         "The columns that are rotated, which all keys of a token share.", "64"},
        {"value_dim", text::required(whole(&LatentFile::value_dim, 1, kWidest)),
         "The width of a head's values.", "128"}};
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
            in.complain(other, fmt::format("latent attention has no '{}' beside its own", other));
}

const Fields<QueryTemperature>& temperature_fields() {
    static const Fields<QueryTemperature> kFields{
        {"floor", real(&QueryTemperature::floor, 1, 1e9, "tokens"),
         "The tokens at whose multiples queries grow.", "8192"},
        {"scale", real(&QueryTemperature::scale, 0, 1e6),
         "The factor of the logarithm by which they grow.", "0.1"}};
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
         "Heads of the indexer.", "64"},
        {"head_dim", text::required(whole(&Indexer::head_dim, 1, kWidest)),
         "The width of its heads.", "128"},
        {"weighted", text::flag(&Indexer::weighted),
         "Scores of its heads are weighed and summed; else each chooses for a key head.", "false"}};
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
        {"keys", whole(&SparseChoice::keys, 1, kMostPositions, "tokens"), "Keys that a token sees.",
         "2048"},
        {"block", whole(&SparseChoice::block, 1, kMostPositions, "tokens"),
         "Keys that are chosen together.", "128"},
        {"indexer",
         custom(read_choosing_indexer, {Form{text::MapForm{described(indexer_fields())}}}),
         "The small attention that chooses them.", "{heads: 64, head_dim: 128}",
         "none: the layer sees what the last layer with one has chosen"}};
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
         "The width of the value from which queries are made.", "1024"},
        {"groups", text::required(whole(&CompressedKeys::groups, 1, kMostHeads)),
         "Groups of heads, each with a product of its own before the last one.", "8"},
        {"out_rank", text::required(whole(&CompressedKeys::out_rank, 1, kWidest)),
         "The width of a group's result.", "1024"},
        {"ratio", whole(&CompressedKeys::ratio, 0, kMostPositions, "tokens"),
         "Tokens that an entry beside the window stands for.", "4", "0: the window alone"},
        {"chosen", whole(&CompressedKeys::chosen, 0, kMostPositions),
         "Entries that a token sees at most.", "512", "0: all before it"},
        {"indexer",
         custom(read_entries_indexer, {Form{text::MapForm{described(indexer_fields())}}}),
         "The small attention that chooses entries.", "{heads: 64, head_dim: 128}", "none"}};
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
         "Attention heads of a layer.", "32", "required"},
        {"kv_heads", custom(read_kv_heads, {Form{text::WholeForm{1, kMostHeads, "heads"}}}),
         "Heads of keys and values (grouped-query attention).", "8", "heads"},
        {"head_dim", custom(read_head_dim, {Form{text::WholeForm{1, kWidest, {}}}}),
         "The width of a head.", "128", "hidden / heads"},
        {"positions", word(&LayerFile::positions, kPositions),
         "How positions are told: a learned table, rotated queries and keys, scores that fall with "
         "the distance (alibi), or not at all.",
         "rope"},
        {"qkv_bias", flag(of_keys(&LayerKeys::qkv_bias)),
         "The products of queries, keys and values have biases, whatever the others have.", "true",
         "linear_bias"},
        {"output_bias", flag(of_keys(&LayerKeys::output_bias)),
         "The product after the attention has a bias, whatever the others have.", "true",
         "linear_bias"},
        {"rotary_dim", whole(of_keys(&LayerKeys::rotary_dim), 2, kWidest),
         "The columns of a head that are rotated.", "64", "all of them"},
        {"rope_scaling", custom(read_scaling, {rope_scaling_form()}),
         "Rotary positions for longer texts than those of the training.",
         "{type: llama3, factor: 8, original_positions: 8192}", "none"},
        {"qk_norm", word(of_keys(&LayerKeys::qk_norm), kQkNorms),
         "RMS norms of queries and keys: none, of every head or of the whole width before they are "
         "rotated, or without weights of every head after that (l2).",
         "heads"},
        {"window", whole(of_keys(&LayerKeys::window), 1, kMostPositions, "tokens"),
         "A token sees itself and the window - 1 tokens before it.", "4096",
         "none: all tokens before it"},
        {"chunk", whole(of_keys(&LayerKeys::chunk), 1, kMostPositions, "tokens"),
         "A token sees itself and the tokens before it in its chunk of this length.", "8192",
         "none: the sequence is one chunk"},
        {"sinks", flag(of_keys(&LayerKeys::sinks)),
         "Every head has a learned logit that takes part in the softmax of its scores.", "true"},
        {"score_softcap", real(of_keys(&LayerKeys::score_softcap), kLeastCap, kMostCap),
         "Scores are cap tanh(score / cap) before the softmax.", "50", "none"},
        {"query_pre_attn_scalar",
         real(of_keys(&LayerKeys::query_pre_attn_scalar), kLeastCap, kMostCap),
         "Scores are divided by the root of this number.", "168", "head_dim"},
        {"query_temperature",
         custom(read_temperature, {Form{text::MapForm{described(temperature_fields())}}}),
         "Queries grow with their position, as Llama 4's without rotary positions.",
         "{floor: 8192, scale: 0.1}", "none"},
        {"output_gate", flag(of_keys(&LayerKeys::output_gate)),
         "The result is multiplied by the sigmoid of a gate that is made with the queries.",
         "true"},
        {"head_gate", flag(of_keys(&LayerKeys::head_gate)),
         "The result of each head is multiplied by the sigmoid of one logit.", "true"},
        {"keys_are_values", flag(of_keys(&LayerKeys::keys_are_values)),
         "Values are the keys before their norm and rotation.", "true"},
        {"value_norm", flag(of_keys(&LayerKeys::value_norm)),
         "Values have an RMS norm of every head without weights.", "true"},
        {"value_dim", whole(of_keys(&LayerKeys::value_dim), 0, kWidest),
         "The width of a head's values outside latent attention.", "128", "0: head_dim"},
        {"sparse_attention", custom(read_sparse, {Form{text::MapForm{described(sparse_fields())}}}),
         "A token sees the keys that an indexer chooses.",
         "{keys: 2048, indexer: {heads: 64, head_dim: 128}}", "none"},
        {"compressed_attention",
         custom(read_compressed, {Form{text::MapForm{described(compressed_fields())}}}),
         "Attention over a window and shortened keys (DeepSeek-V4).",
         "{query_rank: 1024, groups: 8, out_rank: 1024, ratio: 128}", "none"},
        {"latent_attention", custom(read_latent, {Form{text::MapForm{described(latent_fields())}}}),
         "Multi-head latent attention: keys and values are made from a narrow value.",
         "{query_rank: 1536, key_rank: 512, head_dim: 128, rope_dim: 64, value_dim: 128}", "none"},
        {"rope_theta", real(of_keys(&LayerKeys::rope_theta), 1, 1e12),
         "The base of the angles of rotary positions.", "500000"}};
    return kFields;
}

}  // namespace debubble::models
