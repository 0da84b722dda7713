#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/build/graph_builder.h"
#include "models/graph/replays.h"

/// The cut of each parameter by tensor parallelism, and the operators that bring a value from one
/// cut to another: Megatron-LM's "gather" and "scatter" regions (arXiv:1909.08053, section 3).
namespace debubble::models {

namespace {

constexpr std::size_t kMostMistakes = 8;  ///< the rest are the same mistakes in other layers

/// The number of columns of a value [T, columns].
std::int64_t columns_of(const GraphBuilder& builder, Value x) {
    return builder.graph.tensors[x.tensor].bytes.count / builder.size.element / builder.size.tokens;
}

}  // namespace

void GraphBuilder::refuse(std::string sentence) {
    const auto same = [&](const Diagnostic& mistake) { return mistake.message == sentence; };
    if (mistakes.size() >= kMostMistakes) return;
    if (std::any_of(mistakes.begin(), mistakes.end(), same)) return;
    mistakes.push_back({{}, std::move(sentence), {}});
}

bool GraphBuilder::leaves_to_replay(Module module) const {
    return how().recompute == Recompute::Modules && discards_output(module) &&
           how().recompute_extent.modules.has(module) &&
           how().recompute_extent.reaches(layers_before(graph, layer_index)) &&
           how().low_precision.recipe != Recipe::Fp8Delayed;
}

std::int64_t GraphBuilder::part(bool cut, std::int64_t whole, const char* what) {
    if (!cut) return whole;
    if (whole % size.tensor == 0) return whole / size.tensor;
    refuse(fmt::format("{} {} cannot be split into {}", whole, what, size.tensor));
    return 1;
}

Sharding GraphBuilder::asked_for(const std::string& parameter, Sharding usual) const {
    for (const ShardingOverride& line : model().sharding) {
        if (line.matches(parameter)) usual = line.sharding;
    }
    return usual;
}

Sharding GraphBuilder::sharding_of(const std::string& parameter,
                                   std::initializer_list<Sharding> possible) {
    const Sharding usual = *possible.begin();
    const Sharding asked = asked_for(parameter, usual);
    if (std::find(possible.begin(), possible.end(), asked) == possible.end()) {
        std::vector<std::string_view> words;
        for (const Sharding sharding : possible) words.push_back(word(sharding));
        refuse(fmt::format("'{}' cannot be {}, only {}", parameter, word(asked),
                           fmt::join(words, " or ")));
        return usual;
    }
    if (asked != usual && size.scattered) {
        refuse(fmt::format("'{}' cannot be {} with sequence parallelism, which needs it {}",
                           parameter, word(asked), word(usual)));
        return usual;
    }
    return asked;
}

std::vector<int> LinearParameters::all() const {
    std::vector<int> indices;
    indices.reserve(weights.size() + biases.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        indices.push_back(weights[i]);
        if (i < biases.size()) indices.push_back(biases[i]);
    }
    return indices;
}

Sharding GraphBuilder::sharding_of(const LinearParameters& parameters) {
    const Parameter& first = graph.parameters[parameters.weights.front()];
    for (const int index : parameters.weights) {
        const Parameter& other = graph.parameters[index];
        if (other.sharding == first.sharding) continue;
        refuse(fmt::format("'{}' is {} and '{}' is {}, but one GEMM computes both", first.name,
                           word(first.sharding), other.name, word(other.sharding)));
    }
    return first.sharding;
}

int GraphBuilder::whole_parameter(const std::string& name, std::vector<std::int64_t> shape,
                                  Initial initial) {
    Parameter whole{name, std::move(shape), sharding_of(name, {Sharding::Replicated}), 0, 1, {}};
    whole.initial = initial;
    return parameter(std::move(whole));
}

int GraphBuilder::norm_weight(const std::string& name, std::int64_t columns) {
    const int index = whole_parameter(name, {columns}, Initial::Ones);
    graph.parameters.back().zero_centred = model().zero_centred_norms;
    return index;
}

void GraphBuilder::begin_layer(int layer) {
    layer_index = layer;
    size_for_layer(size, model(), how(), layer);
}

void GraphBuilder::cut_heads(bool cut) {
    const Attention& whole = attention();
    size.heads = part(cut, whole.heads, "heads");
    const bool grouped = whole.kv_heads != whole.heads;
    size.kv_heads = grouped ? part(cut, whole.kv_heads, "key-value heads") : size.heads;
    size.query_width = size.heads * whole.head_dim;
    size.key_width = size.kv_heads * whole.head_dim;
    size.value_width = size.kv_heads * whole.value_dim;
    size.context_width = size.heads * whole.value_dim;
}

void GraphBuilder::cut_ffn(bool cut) {
    size.ffn = part(cut, size.ffn, "columns of the MLP");
}

void GraphBuilder::cut_vocabulary(bool cut) {
    size.vocab = cut ? padded_vocabulary(model(), how()) / size.tensor : model().vocab;
}

Value gathered(GraphBuilder& builder, const OperatorPlace& place, Value x,
               std::optional<int> gradient) {
    if (!x.cut) return x;
    const std::int64_t part = builder.graph.tensors[x.tensor].bytes.count;
    const std::int64_t whole = part * builder.size.tensor;
    const Value y{builder.tensor(place.kernel + ".whole", whole),
                  gradient ? *gradient : builder.tensor("d." + place.kernel + ".whole", whole)};
    Operator op = start(place, x);
    op.roles = op::GatherColumns{x, y, columns_of(builder, y)};
    op.forward = collective(builder, place.kernel + ".gather", place.layer,
                            Collective::Kind::AllGather, whole);
    op.forward_uses = {x.tensor, y.tensor};
    op.backward_input = {moves(place.kernel + ".dx", place.layer, part, part)};
    op.backward_input_uses = {y.gradient, x.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

Value sliced(GraphBuilder& builder, const OperatorPlace& place, Value x) {
    if (x.cut || builder.size.tensor == 1) return x;
    const std::int64_t whole = builder.graph.tensors[x.tensor].bytes.count;
    const std::int64_t part = whole / builder.size.tensor;
    const Value y{builder.tensor(place.kernel + ".slice", part),
                  builder.tensor("d." + place.kernel + ".slice", part), true};
    Operator op = start(place, x);
    op.roles = op::SliceColumns{x, y, columns_of(builder, x)};
    op.forward = {moves(place.kernel + ".slice", place.layer, part, part)};
    op.forward_uses = {x.tensor, y.tensor};
    op.backward_input = collective(builder, place.kernel + ".dx.gather", place.layer,
                                   Collective::Kind::AllGather, whole);
    op.backward_input_uses = {y.gradient, x.gradient};
    builder.graph.operators.push_back(std::move(op));
    return y;
}

}  // namespace debubble::models
