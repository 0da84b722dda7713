#include "models/graph/stage_sizes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::models {

namespace {

constexpr std::int64_t kLargestSize = std::int64_t{1} << 32;
constexpr double kLargestTensor = 1099511627776.0;  ///< in elements: 2^40, so that no sum overflows

/// Collects every reason why a model cannot be cut in this way.
struct Divisions {
    std::vector<Diagnostic> mistakes;

    void refuse(std::string sentence) { mistakes.push_back({{}, std::move(sentence), {}}); }
    std::int64_t cut(std::int64_t whole, std::int64_t parts, const char* what) {
        if (parts > 0 && whole % parts == 0) return whole / parts;
        refuse(fmt::format("{} {} cannot be split into {}", whole, what, parts));
        return 1;
    }
    void check_size(std::int64_t size) {
        if (size < 1 || size > kLargestSize)
            refuse(fmt::format("a size of {} is outside 1 to {}", size, kLargestSize));
    }
    void check_layer(const Layer& layer) {
        if (const auto* attention = layer.as<Attention>())
            for (const std::int64_t size :
                 {attention->heads, attention->kv_heads, attention->head_dim, attention->value_dim,
                  attention->window.value_or(1)})
                check_size(size);
        if (const auto* mamba = layer.state_space())
            for (const std::int64_t size : {mamba->heads, mamba->head_dim, mamba->state,
                                            mamba->groups, mamba->convolution, mamba->chunk})
                check_size(size);
        if (const auto* net = layer.as<DeltaNet>())
            for (const std::int64_t size : {net->key_heads, net->value_heads, net->key_dim,
                                            net->value_dim, net->convolution, net->chunk})
                check_size(size);
        if (const auto* mlp = layer.as<DenseMlp>()) check_size(mlp->ffn);
        if (const auto* experts = layer.as<Experts>())
            for (const std::int64_t size : {experts->count, experts->per_token, experts->ffn})
                check_size(size);
    }
    void check_sizes(const Architecture& model, const Execution& how) {
        for (const std::int64_t size :
             {model.hidden, model.vocab, how.micro_batch, how.seq_length, std::int64_t{how.tensor},
              std::int64_t{how.context}, std::int64_t{how.slices},
              std::int64_t{how.kernels.vocabulary_multiple}, std::int64_t{how.expert},
              std::int64_t{how.expert_tensor}})
            check_size(size);
        for (const Layer& layer : model.layers.kinds()) check_layer(layer);
        for (const int parts : {how.tensor, how.context, how.context_inner, how.slices, how.expert,
                                how.expert_tensor}) {
            if (parts > 1 << 20)
                refuse(fmt::format("a stage cannot be split into {} parts", parts));
        }
        if (how.slice < 0 || how.slice >= how.slices) {
            refuse(fmt::format("slice {} of {} does not exist", how.slice, how.slices));
        }
    }

    /// Precondition: the sizes are in their range.
    void check_tensors(const Architecture& model, const Execution& how) {
        const auto number = [](std::int64_t size) { return static_cast<double>(size); };
        const double hidden = number(model.hidden);
        double heads = 0;  // columns of queries, keys and values
        double ffn = 0;
        double most_heads = 0;
        for (const Layer& layer : model.layers.kinds()) {
            if (const auto* attention = layer.as<Attention>()) {
                heads = std::max(heads, number(attention->heads + 2 * attention->kv_heads) *
                                            number(attention->head_dim));
                most_heads = std::max(most_heads, number(attention->heads));
            }
            heads = std::max(heads, recurrent_columns(layer));
            if (const auto* mlp = layer.as<DenseMlp>()) ffn = std::max(ffn, number(mlp->ffn));
            if (const auto* experts = layer.as<Experts>())
                ffn = std::max(ffn, number(experts->ffn));
        }
        const double width = std::max(
            {hidden, heads, 2 * ffn, number(model.vocab) + how.kernels.vocabulary_multiple});
        const double queries = number(how.seq_length) / how.slices / how.context;
        const double tokens = number(how.micro_batch) * queries;
        double scores = 0;
        if (how.attention == AttentionKernel::Unfused) {
            scores = tokens * number(how.seq_length) * most_heads;
            if (model.sharding.empty()) scores /= how.tensor;
        }
        if (how.kernels.attention_mask_tensor) {
            scores = std::max(
                scores, number(how.micro_batch) * number(how.seq_length) * number(how.seq_length));
        }
        const double largest =
            std::max({hidden * width, tokens * width, scores, hidden * number(model.max_positions),
                      expert_elements(model, how, tokens)});
        if (largest > kLargestTensor) {
            refuse(fmt::format("a tensor of {:.3g} elements is beyond any machine", largest));
        }
    }

    /// Elements a token of the largest tensor of a recurrent layer: its product, or the states
    /// and scores of its chunks, each counted in full.
    static double recurrent_columns(const Layer& layer) {
        const auto number = [](std::int64_t size) { return static_cast<double>(size); };
        if (const auto* mamba = layer.state_space())
            return std::max({number(mamba->projected()),
                             number(mamba->inner()) * number(mamba->state),
                             number(mamba->groups) * number(mamba->chunk)});
        if (const auto* net = layer.as<DeltaNet>())
            return std::max(
                {number(net->projected()), number(net->value_heads) * number(net->chunk),
                 number(net->value_heads) * number(net->key_dim) * number(net->value_dim)});
        return 0;
    }

    /// The number of elements of the largest tensor around the experts: the output of all of them
    /// for all rows.
    double expert_elements(const Architecture& model, const Execution& how, double tokens) const {
        double most = 0;
        for (const Layer& layer : model.layers.kinds()) {
            const auto* experts = layer.as<Experts>();
            if (experts == nullptr) continue;
            const double rows = tokens / how.tensor * how.expert_tensor * how.expert_load *
                                static_cast<double>(experts->per_token);
            most =
                std::max(most, (rows + static_cast<double>(experts->count)) *
                                   static_cast<double>(std::max(model.hidden, 2 * experts->ffn)));
        }
        return most;
    }

    void check_experts(const Architecture& model, const Execution& how, const Sizes& size) {
        if (!model.has_experts()) {
            if (how.expert > 1) refuse("the model has no experts to distribute");
            return;
        }
        if (how.tensor > 1 && !size.scattered) {
            refuse(
                "experts with tensor parallelism need sequence parallelism, so that each rank "
                "sends its own tokens");
        }
        for (const Layer& layer : model.layers.kinds()) {
            const auto* experts = layer.as<Experts>();
            if (experts == nullptr) continue;
            cut(experts->count, how.expert, "experts");
            cut(experts->ffn, how.expert_tensor, "columns of an expert");
        }
    }
};

/// Precondition: sizes.stream_tokens is set.
ExpertRows rows_of(const Sizes& size, const Experts& experts, const Execution& how,
                   bool quantised) {
    return {size.stream_tokens * experts.per_token,
            experts.count / how.expert,
            how.expert,
            experts.per_token,
            how.expert_tensor,
            quantised ? expert_rows_multiple(how.low_precision.recipe) : 1};
}

/// Precondition: sizes.stream_tokens is set.
void size_experts(Sizes& size, const Experts& experts, const Execution& how, bool quantised) {
    size.experts = experts.count / how.expert;
    size.expert_ffn = experts.ffn / how.expert_tensor;
    size.gates = is_gated(experts.activation) ? 2 : 1;
    size.expert_rows = rows_of(size, experts, how, quantised).at(how.expert_load);
}

}  // namespace

std::int64_t ExpertRows::at(double load) const {
    // A token sends a rank at most as many rows as it has experts, so a single rank is never
    // fuller.
    const std::int64_t most = std::min(on_rank, per_token);
    const double fullest =
        std::min(load, static_cast<double>(ranks * most) / static_cast<double>(per_token));
    const auto rows = static_cast<std::int64_t>(std::ceil(static_cast<double>(routed) * fullest));
    const auto up = [](std::int64_t of, std::int64_t parts) { return (of + parts - 1) / parts; };
    return up(up(rows, on_rank) * cuts, multiple) * multiple;
}

ExpertRows expert_rows_of(const Architecture& model, const Execution& how, int layer) {
    const auto* experts = model.layer_at(layer).as<Experts>();
    return rows_of(sizes_of(model, how), *experts, how, how.low_precision.quantises(layer));
}

void size_for_layer(Sizes& size, const Architecture& model, const Execution& how, int index) {
    const Layer& layer = model.layer_at(index);
    if (const auto* attention = layer.as<Attention>()) {
        size.heads = attention->heads;
        size.kv_heads = attention->kv_heads;
        size.query_width = attention->query_width();
        size.key_width = attention->key_width();
        size.value_width = attention->value_width();
        size.context_width = attention->context_width();
    }
    if (const auto* mlp = layer.as<DenseMlp>()) {
        size.ffn = mlp->ffn;
        size.gates = is_gated(mlp->activation) ? 2 : 1;
    }
    size.experts = size.expert_rows = size.expert_ffn = 0;
    if (const auto* experts = layer.as<Experts>())
        size_experts(size, *experts, how, how.low_precision.quantises(index));
}

std::int64_t padded_vocabulary(const Architecture& model, const Execution& how) {
    const std::int64_t multiple = std::int64_t{how.kernels.vocabulary_multiple} * how.tensor;
    return (model.vocab + multiple - 1) / multiple * multiple;
}

Sizes sizes_of(const Architecture& model, const Execution& how) {
    Divisions divide;
    divide.check_sizes(model, how);
    if (divide.mistakes.empty()) divide.check_tensors(model, how);
    if (!divide.mistakes.empty()) throw InputError(std::move(divide.mistakes));
    const int t = how.tensor;
    Sizes size;
    size.element = size_of(how.compute);
    size.tensor = t;
    size.scattered = how.sequence_parallel && t > 1;
    size.samples = how.micro_batch;
    size.hidden = model.hidden;
    for (const Layer& layer : model.layers.kinds()) {
        const auto* attention = layer.as<Attention>();
        if (attention != nullptr && attention->heads % attention->kv_heads != 0)
            divide.refuse(fmt::format("{} heads cannot share {} key-value heads", attention->heads,
                                      attention->kv_heads));
    }
    size.vocab = model.vocab;
    const std::int64_t slice = divide.cut(how.seq_length, how.slices, "tokens of a sequence");
    size.queries = divide.cut(slice, how.context, "tokens of a sequence slice");
    size.keys = slice * (how.slice + 1);
    // With context parallelism a rank's queries see on average all earlier slices and half of
    // this one; FlashAttention counts queries x keys - queries^2 / 2.
    size.balanced_keys = slice * how.slice + (slice + size.queries) / 2;
    if (how.context == 1) size.balanced_keys = size.keys;
    if (!model.causal) size.balanced_keys = how.seq_length;
    if (!model.causal) size.keys = how.seq_length;
    size.tokens = how.micro_batch * size.queries;
    size.stream_tokens =
        size.scattered ? divide.cut(size.tokens, t, "tokens of the rank") : size.tokens;
    divide.check_experts(model, how, size);
    if (!divide.mistakes.empty()) throw InputError(std::move(divide.mistakes));
    return size;
}

}  // namespace debubble::models
