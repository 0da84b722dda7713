#include <algorithm>
#include <cmath>

#include "models/counts/counts.h"
#include "models/graph/graph.h"

/// FLOPs of a network's training step by three counts.
namespace debubble::models {

namespace {

double number(std::int64_t value) {
    return static_cast<double>(value);
}

/// The weights with which a token is multiplied.
double weights_per_token(const DenseMlp& mlp, double hidden) {
    return (is_gated(mlp.activation) ? 3.0 : 2.0) * hidden * number(mlp.ffn);
}
double weights_per_token(const Experts& experts, double hidden) {
    const double beside = 3.0 * hidden * number(experts.beside_ffn.value_or(0));
    const double narrow = number(experts.latent.value_or(0));
    const double one = (is_gated(experts.activation) ? 3.0 : 2.0) * (narrow > 0 ? narrow : hidden) *
                       number(experts.ffn);
    const double shared =
        (experts.shared_gate ? hidden : 0) + (is_gated(experts.activation) ? 3.0 : 2.0) * hidden *
                                                 number(experts.shared_ffn.value_or(0));
    return one * number(experts.per_token) + shared + beside + hidden * number(experts.count) +
           2 * hidden * narrow;
}

double weights_per_token(const NoMlp& /*none*/, double /*hidden*/) {
    return 0;
}
double weights_per_token(const NoMixer& /*none*/, double /*hidden*/) {
    return 0;
}
/// Megatron-LM, which has Mamba-2 alone, takes the inner width for twice the hidden one
/// (training.py, mamba_layer_flops).
double weights_per_token(const Mamba& mamba, double hidden) {
    if (mamba.step_rank)
        return 3 * hidden * number(mamba.inner()) +
               number(mamba.inner()) * number(mamba.narrow() + *mamba.step_rank);
    const double inner = 2 * hidden;
    return hidden * (2 * inner + number(2 * mamba.groups * mamba.state + mamba.heads)) +
           inner * hidden;
}
double weights_per_token(const DeltaNet& net, double hidden) {
    const double width = number(net.value_width());
    if (net.fixed_decay) return 5 * hidden * width;
    if (net.channel_decay) {
        const double narrow = number(net.gate_rank) * (hidden + width);
        return 4 * hidden * width + hidden * number(net.value_heads) +
               (net.full_decay_gate ? hidden * width : narrow) +
               (net.full_output_gate ? hidden * width : narrow) +
               number(net.convolution) * 3 * width;
    }
    return hidden * number(net.projected() + net.value_width()) +
           number(net.convolution) * number(net.convolved());
}
/// Those of a compressor into entries of so many columns.
double compressor_weights(const CompressedKeys& keys, double hidden, double columns) {
    return 2 * hidden * number(keys.overlap()) * columns;
}
double weights_per_token(const CompressedKeys& keys, const Attention& attention, double hidden) {
    const double rank = number(keys.query_rank);
    const double d = number(attention.head_dim);
    double weights = hidden * rank + rank * number(attention.query_width()) + hidden * d +
                     number(attention.context_width() * keys.out_rank) +
                     number(keys.groups * keys.out_rank) * hidden;
    if (keys.ratio) weights += compressor_weights(keys, hidden, d);
    return weights;
}
double weights_per_token(const Attention& attention, double hidden) {
    if (attention.compressed) return weights_per_token(*attention.compressed, attention, hidden);
    const double gate = attention.latent && attention.output_gate
                            ? hidden * number(attention.context_width())
                            : (attention.head_gate ? hidden * number(attention.heads) : 0);
    const double queries =
        (attention.output_gate && !attention.latent ? 2 : 1) * number(attention.query_width());
    const double out = hidden * number(attention.context_width()) + gate;
    const std::int64_t values = attention.keys_are_values ? 0 : attention.value_width();
    if (!attention.latent) return hidden * (queries + number(attention.key_width() + values)) + out;
    const LatentAttention& latent = *attention.latent;
    const double rank = number(latent.query_rank.value_or(0));
    const double own = number(attention.head_dim - latent.rope_dim + attention.value_dim);
    return (rank > 0 ? rank * (hidden + queries) : hidden * queries) +
           hidden * number(latent.key_rank + latent.rope_dim) +
           number(latent.key_rank * attention.heads) * own + out;
}

/// Which FLOPs to count.
enum class Count : std::uint8_t {
    Model,     ///< Megatron-LM's: attention in full, recurrences by its formulas
    Causal,    ///< the same with half of causal attention
    Attended,  ///< only what masks and chunks leave to compute
};

/// The weights of an indexer, which no gradient passes through.
double indexer_weights(const Attention& attention, double hidden) {
    const auto& keys = attention.compressed;
    if (keys && keys->indexer) {
        const double width = number(keys->indexer->head_dim);
        return compressor_weights(*keys, hidden, width) +
               number(keys->query_rank * keys->indexer->heads) * width +
               hidden * number(keys->indexer->heads);
    }
    if (!attention.sparse || !attention.sparse->indexer) return 0;
    const Indexer& indexer = *attention.sparse->indexer;
    const double inputs = attention.latent && attention.latent->query_rank
                              ? number(*attention.latent->query_rank)
                              : hidden;
    return inputs * number(indexer.heads * indexer.head_dim) + hidden * number(indexer.head_dim) +
           (indexer.weighted ? hidden * number(indexer.heads) : 0);
}

/// FLOPs of an indexer's scores of a pair, forward.
double score_flops(const Indexer& indexer) {
    return 2 * number(indexer.heads * (indexer.head_dim + (indexer.weighted ? 1 : 0)));
}

/// FLOPs of the products that mix a token's residual streams around the parts of a layer.
double mixing_flops(const Architecture& model, const Layer& layer) {
    if (!model.mixes_streams()) return 0;
    const double parts = (layer.mixes() ? 1 : 0) + (layer.has_mlp() ? 1 : 0);
    const double n = number(model.streams);
    const double hidden = number(model.hidden);
    if (model.residual_block) {
        const double rows = number(model.stream_rows(model.layers.count()));
        return parts * 6 * hidden * (rows + 1) / 2;  // the rows grow from one to all of them
    }
    return parts * (2 * n * hidden * (n * n + 2 * n) + 2 * n * n * hidden + 4 * n * hidden);
}

/// FLOPs of a token's recurrence, forward, as its chunks compute it
/// (models/build/recurrent/mamba.cpp, models/build/recurrent/delta_net.cpp). Mamba-1's scan is not
/// a GEMM.
double chunk_flops(const Layer& layer) {
    if (const auto* mamba = layer.state_space(); mamba != nullptr && !mamba->step_rank) {
        const double chunk = number(mamba->chunk);
        return number(mamba->groups) * 2 * chunk * number(mamba->state) +
               number(mamba->inner()) * (2 * chunk + 4 * number(mamba->state));
    }
    if (const auto* net = layer.as<DeltaNet>()) {
        const double key = number(net->key_dim);
        const double value = number(net->value_dim);
        if (net->fixed_decay)
            return number(net->value_heads) *
                   (4 * key * value + 2 * number(net->chunk) * (key + value));
        return number(net->value_heads) *
               (6 * key * value + 2 * number(net->chunk) * (3 * key + 2 * value));
    }
    return 0;
}

/// FLOPs of a token's recurrence, forward, by Megatron-LM's count (training.py): 7 for each value
/// of a Mamba layer's states, and four products of a delta net's, of which Lightning attention has
/// two.
double recurrence_flops(const Layer& layer, double hidden) {
    if (layer.beside) return 7 * number(layer.beside->inner() * layer.beside->state);
    if (const auto* mamba = layer.as<Mamba>())
        return mamba->step_rank ? 0 : 7 * 2 * hidden * number(mamba->state);
    if (const auto* net = layer.as<DeltaNet>())
        return (net->fixed_decay ? 4.0 : 8.0) * number(net->value_heads) * number(net->value_dim) *
               number(net->value_dim);
    return 0;
}

/// The query-key pairs of a head.
double pairs_of(const Attention& attention, const Architecture& model, double tokens, Count count) {
    // No kernel sees all pairs where keys are compressed.
    if (attention.compressed)
        return pairs(WindowMask{attention.window.value_or(1)}, tokens, tokens, Diagonal::Whole);
    if (count == Count::Model || !model.causal)
        return pairs(FullMask{}, tokens, tokens, Diagonal::Whole);
    if (count == Count::Causal) return pairs(CausalMask{}, tokens, tokens, Diagonal::Half);
    return pairs(mask_of(attention, model.causal), tokens, tokens, Diagonal::Whole);
}

/// Columns of a pair of a head's query and key: of absorbed latent attention, the latent value's.
double attended_columns(const Attention& attention, Count count) {
    if (count == Count::Attended && attention.sparse && attention.latent)
        return number(attention.heads *
                      (2 * attention.latent->key_rank + attention.latent->rope_dim));
    return number(attention.query_width() + attention.context_width());
}

/// An indexer's products and its scores of all pairs before a token, forward alone: its inputs are
/// detached. Megatron-LM's count has none of it.
double choice_flops(const Attention& attention, double hidden, double tokens, Count count) {
    if (count != Count::Attended) return 0;
    const double products = 2 * indexer_weights(attention, hidden) * tokens;
    if (attention.compressed && attention.compressed->indexer) {
        CompressedKeys all = *attention.compressed;
        all.chosen.reset();
        return products + score_flops(*all.indexer) * entries_seen(all, tokens);
    }
    if (!attention.sparse || !attention.sparse->indexer) return products;
    return products + score_flops(*attention.sparse->indexer) * tokens * (tokens + 1) / 2;
}

/// FLOPs per weight and token of a product of weights: 2 forward, 2 for its input's gradient and 2
/// for the weights'.
constexpr double kTrained = 6;
constexpr double kFrozen = 4;

/// Scores and context cost 2 (d + v) FLOPs forward per head and pair, three times that in all.
double layer_flops(const Layer& layer, const Architecture& model, double tokens, Count count,
                   double per_weight) {
    const double hidden = number(model.hidden);
    const auto weights_of = [&](const auto& part) { return weights_per_token(part, hidden); };
    double weights = std::visit(weights_of, layer.mixer) + std::visit(weights_of, layer.mlp);
    if (layer.beside) weights += hidden * number(layer.beside->projected() + layer.beside->inner());
    double recurrence = recurrence_flops(layer, hidden);
    if (count == Count::Attended) {
        recurrence = chunk_flops(layer);
        if (const auto* mamba = layer.as<Mamba>(); mamba != nullptr && !mamba->step_rank)
            weights += hidden * number(mamba->projected() + mamba->inner()) - weights_of(*mamba);
        // A convolution is not a GEMM.
        if (const auto* net = layer.as<DeltaNet>(); net != nullptr && !net->fixed_decay)
            weights -= number(net->convolution) *
                       number(net->channel_decay ? 3 * net->value_width() : net->convolved());
    }
    double attended = 0;
    double chosen = 0;
    if (const auto* attention = layer.as<Attention>()) {
        attended = attended_columns(*attention, count) * pairs_of(*attention, model, tokens, count);
        if (attention->compressed)
            attended += number(attention->query_width() + attention->context_width()) *
                        entries_seen(*attention->compressed, tokens);
        chosen = choice_flops(*attention, hidden, tokens, count);
    }
    const double mixing = count == Count::Attended ? 3 * mixing_flops(model, layer) : 0;
    return (per_weight * weights + 3 * recurrence + mixing) * tokens + 6 * attended + chosen;
}

double flops_per_sample(const Architecture& model, std::int64_t seq_length, Count count,
                        double per_weight = kTrained) {
    const double tokens = number(seq_length);
    const double hidden = number(model.hidden);
    double layers =
        model.mtp_layers * layer_flops(model.layers.ahead(), model, tokens, count, per_weight);
    const std::vector<Layer>& kinds = model.layers.kinds();
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
        layers += model.layers.count_of(kind) *
                  layer_flops(kinds[kind], model, tokens, count, per_weight);
    const double classes = number(model.vocab);
    // Each depth of multi-token prediction has a projection of 2 h to h and the head once more.
    double ends = per_weight * hidden * classes * tokens * (1 + model.mtp_layers) +
                  model.mtp_layers * 2 * per_weight * hidden * hidden * tokens;
    if (model.sees_images()) {
        const double side = number(model.patch_size.value_or(16));
        const double pixels = number(model.channels.value_or(3)) * side * side;
        ends = per_weight * hidden * (classes + pixels * (tokens - 1));
    }
    if (model.tower) ends += tower_flops_per_sample(*model.tower, per_weight == kFrozen);
    return layers + ends;
}

}  // namespace

double model_flops_per_sample(const Architecture& model, std::int64_t seq_length) {
    return flops_per_sample(model, seq_length, Count::Model);
}

double causal_flops_per_sample(const Architecture& model, std::int64_t seq_length) {
    return flops_per_sample(model, seq_length, Count::Causal);
}

double attended_flops_per_sample(const Architecture& model, std::int64_t seq_length) {
    return flops_per_sample(model, seq_length, Count::Attended);
}

double frozen_model_flops_per_sample(const Architecture& model, std::int64_t seq_length) {
    return flops_per_sample(model, seq_length, Count::Model, kFrozen);
}

double frozen_attended_flops_per_sample(const Architecture& model, std::int64_t seq_length) {
    return flops_per_sample(model, seq_length, Count::Attended, kFrozen);
}

}  // namespace debubble::models
