#include <algorithm>
#include <cmath>

#include "base/memo.h"
#include "models/frozen_flops.h"
#include "models/graph.h"

namespace debubble::models {

namespace {

StageGraph uncut(Architecture architecture, const StageContent& content) {
    architecture.sharding.clear();
    Execution execution;
    execution.seq_length = architecture.sees_images() ? architecture.max_positions : 1;
    execution.kernels.vocabulary_multiple = 1;
    return build_stage(architecture, execution, content);
}

/// The parameters of a stage with these layers and both ends, without copies of tied tensors.
std::int64_t parameters_with(Architecture architecture, Layers layers, int mtp_layers = 0) {
    architecture.layers = std::move(layers);
    architecture.mtp_layers = mtp_layers;
    return uncut(architecture, {0, architecture.layers.count(), true, true}).parameter_elements();
}

/// The last layers, as few as have the parts of the layer that predicts a further token.
Layers decides_ahead(const Layers& layers) {
    int first = layers.count() - 1;
    const auto from = [&] {
        Layers some;
        for (int layer = first; layer < layers.count(); ++layer) some.append(layers[layer]);
        return some;
    };
    while (first > 0 && from().ahead() != layers.ahead()) --first;
    return from();
}

constexpr std::size_t kMostCountsKept = 16;

}  // namespace

std::int64_t parameter_count(const Architecture& architecture) {
    // The plans of a sweep ask for the same counts again and again.
    static auto& known = *new Memo<Architecture, const std::int64_t>(kMostCountsKept);
    return *known.get(architecture, [&] {
        const std::int64_t without = parameters_with(architecture, {});
        std::int64_t sum = without;
        const std::vector<Layer>& kinds = architecture.layers.kinds();
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const std::int64_t one = parameters_with(architecture, {kinds[kind], 1}) - without;
            sum += architecture.layers.count_of(kind) * one;
        }
        if (architecture.mtp_layers > 0) {
            const Layers last = decides_ahead(architecture.layers);
            sum += architecture.mtp_layers *
                   (parameters_with(architecture, last, 1) - parameters_with(architecture, last));
        }
        return std::make_unique<const std::int64_t>(sum);
    });
}

namespace {

/// The parameters of the layer's experts that a token does not go to.
std::int64_t idle_parameters(const Layer& layer, const Architecture& architecture) {
    const auto* experts = layer.as<Experts>();
    if (experts == nullptr) return 0;
    const std::int64_t inner = is_gated(experts->activation) ? 2 * experts->ffn : experts->ffn;
    const std::int64_t width = experts->width(architecture.hidden);
    const std::int64_t biases = experts->bias ? inner + width : 0;
    return (experts->count - experts->per_token) * (width * (inner + experts->ffn) + biases);
}

}  // namespace

std::int64_t active_parameter_count(const Architecture& architecture) {
    const Layers& layers = architecture.layers;
    std::int64_t idle = architecture.mtp_layers * idle_parameters(layers.ahead(), architecture);
    for (std::size_t kind = 0; kind < layers.kinds().size(); ++kind)
        idle += layers.count_of(kind) * idle_parameters(layers.kinds()[kind], architecture);
    return parameter_count(architecture) - idle;
}

std::vector<Parameter> whole_parameters(const Architecture& architecture) {
    return uncut(architecture, {0, architecture.layers.count(), true, true}).parameters;
}

std::vector<Buffer> whole_buffers(const Architecture& architecture) {
    return uncut(architecture, {0, architecture.layers.count(), true, true}).buffers;
}

std::vector<std::string> parameter_names(const Architecture& architecture,
                                         const StageContent& content) {
    std::vector<std::string> names;
    for (const Parameter& parameter : uncut(architecture, content).parameters) {
        names.push_back(parameter.name);
    }
    return names;
}

namespace {

double number(std::int64_t value) {
    return static_cast<double>(value);
}

/// The weights with which a token is multiplied.
double weights_per_token(const DenseMlp& mlp, double hidden) {
    return (is_gated(mlp.activation) ? 3.0 : 2.0) * hidden * number(mlp.ffn);
}
double weights_per_token(const Experts& experts, double hidden) {
    const double narrow = number(experts.latent);
    const double one = (is_gated(experts.activation) ? 3.0 : 2.0) * (narrow > 0 ? narrow : hidden) *
                       number(experts.ffn);
    const double shared =
        (experts.shared_gate ? hidden : 0) +
        (is_gated(experts.activation) ? 3.0 : 2.0) * hidden * number(experts.shared_ffn);
    return one * number(experts.per_token) + shared + hidden * number(experts.count) +
           2 * hidden * narrow;
}

double weights_per_token(const NoMlp& /*none*/, double /*hidden*/) {
    return 0;
}
double weights_per_token(const NoMixer& /*none*/, double /*hidden*/) {
    return 0;
}
/// Megatron-LM takes the inner width for twice the hidden one (training.py, mamba_layer_flops).
double weights_per_token(const Mamba& mamba, double hidden) {
    const double inner = 2 * hidden;
    return hidden * (2 * inner + number(2 * mamba.groups * mamba.state + mamba.heads)) +
           inner * hidden;
}
double weights_per_token(const DeltaNet& net, double hidden) {
    return hidden * number(net.projected() + net.value_width()) +
           number(net.convolution) * number(net.convolved());
}
double weights_per_token(const Attention& attention, double hidden) {
    const double queries = (attention.output_gate ? 2 : 1) * number(attention.query_width());
    const double out = hidden * number(attention.context_width());
    if (!attention.latent)
        return hidden * (queries + number(attention.key_width() + attention.value_width())) + out;
    const LatentAttention& latent = *attention.latent;
    const double rank = number(latent.query_rank);
    const double own = number(attention.head_dim - latent.rope_dim + attention.value_dim);
    return (rank > 0 ? rank * (hidden + queries) : hidden * queries) +
           hidden * number(latent.key_rank + latent.rope_dim) +
           number(latent.key_rank * attention.heads) * own + out;
}

/// What of a network's FLOPs counts.
enum class Count : std::uint8_t {
    Model,     ///< Megatron-LM's: attention in full, recurrences by its formulas
    Causal,    ///< the same with half of causal attention
    Attended,  ///< only what masks and chunks leave to compute
};

/// FLOPs of a token's recurrence, forward, as its chunks compute it (build_mamba.cpp,
/// build_delta_net.cpp).
double chunk_flops(const Layer& layer) {
    if (const auto* mamba = layer.as<Mamba>()) {
        const double chunk = number(mamba->chunk);
        return number(mamba->groups) * 2 * chunk * number(mamba->state) +
               number(mamba->inner()) * (2 * chunk + 4 * number(mamba->state));
    }
    if (const auto* net = layer.as<DeltaNet>()) {
        const double key = number(net->key_dim);
        const double value = number(net->value_dim);
        return number(net->value_heads) *
               (6 * key * value + 2 * number(net->chunk) * (3 * key + 2 * value));
    }
    return 0;
}

/// FLOPs of a token's recurrence, forward, by Megatron-LM's count (training.py): 7 for each value
/// of a Mamba layer's states, and four products of a delta net's.
double recurrence_flops(const Layer& layer, double hidden) {
    if (const auto* mamba = layer.as<Mamba>()) return 7 * 2 * hidden * number(mamba->state);
    if (const auto* net = layer.as<DeltaNet>())
        return 8 * number(net->value_heads) * number(net->value_dim) * number(net->value_dim);
    return 0;
}

/// The query-key pairs of a head.
double pairs_of(const Attention& attention, const Architecture& model, double tokens, Count count) {
    if (count == Count::Model || !model.causal) return tokens * tokens;
    if (count == Count::Causal) return tokens * tokens / 2;
    const auto among = [](double queries, double seen) {
        return queries * seen - seen * (seen - 1) / 2;
    };
    if (attention.chunk) {
        const double chunk = std::min(tokens, number(*attention.chunk));
        const double rest = std::fmod(tokens, chunk);
        return (tokens - rest) / chunk * among(chunk, chunk) + among(rest, rest);
    }
    return among(tokens, std::min(tokens, attention.window ? number(*attention.window) : tokens));
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
    double recurrence = recurrence_flops(layer, hidden);
    if (count == Count::Attended) {
        recurrence = chunk_flops(layer);
        if (const auto* mamba = layer.as<Mamba>())
            weights += hidden * number(mamba->projected() + mamba->inner()) - weights_of(*mamba);
        if (const auto* net = layer.as<DeltaNet>())  // a convolution is no product
            weights -= number(net->convolution) * number(net->convolved());
    }
    double attended = 0;
    if (const auto* attention = layer.as<Attention>())
        attended = number(attention->query_width() + attention->context_width()) *
                   pairs_of(*attention, model, tokens, count);
    return (per_weight * weights + 3 * recurrence) * tokens + 6 * attended;
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
