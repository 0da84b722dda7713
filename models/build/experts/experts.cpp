#include "models/build/experts/route.h"

#include <string>

/// A mixture of experts (Shazeer et al. 2017, arXiv:1701.06538; Mixtral, Jiang et al. 2024,
/// arXiv:2401.04088) on expert-parallel ranks, in the order of Megatron-Core's all-to-all token
/// dispatcher: tokens are permuted by expert, sent by all-to-all, gathered over the
/// expert-tensor-parallel ranks, and returned the same way. Without a capacity no token is dropped.
namespace debubble::models {

/// The last operator is the activation: it multiplies each token by its routing weight, which was
/// sent with it.
void ExpertRoute::weigh_activation(Value weights) const {
    Operator& op = builder.graph.operators.back();
    const int mine = builder.tensor("experts.act.weights", 4 * size().all_expert_rows());
    std::get<op::Activation>(op.roles).weights = {mine, weights.gradient};
    op.saved.push_back(mine);
    op.forward_uses.push_back(mine);
    if (op.kept_copy) op.kept_copy->uses_again.push_back(mine);
    op.backward_input_uses.push_back(mine);
    op.backward_input_uses.push_back(weights.gradient);
}

bool ExpertRoute::fuses_products() const {
    return builder.how().kernels.fused_experts && is_gated(experts.activation) &&
           builder.how().low_precision.quantises(layer);
}

/// The last operator is the activation, whose kernels are fused into the adjacent GEMMs.
void ExpertRoute::compute_in_products() const {
    Operator& op = builder.graph.operators.back();
    op.forward.clear();
    op.backward_input.clear();
}

/// The parameters of the experts of this expert-parallel rank. Ranks that cut an expert have the
/// biases of their outputs, and all of them the one that is added to the sum of theirs.
LinearParameters ExpertRoute::parameters(bool in) const {
    const std::int64_t hidden = width();
    LinearParameters all;
    const bool counted = builder.expert_parameters == ExpertParameters::Counted;
    const int each = counted ? static_cast<int>(size().experts) : 1;
    const std::string experts_of_layer = names.prefix + names.experts + ".";
    const auto add = [&](std::int64_t expert, const char* weight, std::int64_t inputs,
                         std::int64_t outputs, Sharding sharding) {
        // A stage may have thousands of them: each name is put together once.
        const std::string number = std::to_string(expert);
        const auto named = [&](const char* ending) {
            std::string name;
            name.reserve(experts_of_layer.size() + 32);
            return name.append(experts_of_layer)
                .append(number)
                .append(".")
                .append(weight)
                .append(ending);
        };
        const bool column = sharding == Sharding::Column;
        Parameter weight_of{
            named(".weight"), {outputs, inputs}, sharding, column ? 0 : 1, 1, {}, true};
        weight_of.count = each;
        all.weights.push_back(builder.parameter(std::move(weight_of)));
        if (!experts.bias) return;
        Parameter bias{
            named(".bias"), {outputs}, column ? sharding : Sharding::Replicated, 0, 1, {}, true};
        bias.initial = Initial::Zeros;
        bias.count = each;
        all.biases.push_back(builder.parameter(std::move(bias)));
    };
    const bool gated = is_gated(experts.activation);
    const bool gate_first = gated || builder.model().family == Family::Llama;
    const std::int64_t first = builder.how().expert_rank * size().experts;
    for (std::int64_t expert = first; expert < first + size().experts; expert += each) {
        if (!in) {
            add(expert, names.of_expert[2], experts.ffn, hidden, Sharding::Row);
            continue;
        }
        add(expert, names.of_expert[gate_first ? 0 : 1], hidden, experts.ffn, Sharding::Column);
        if (gated) add(expert, names.of_expert[1], hidden, experts.ffn, Sharding::Column);
    }
    return all;
}

/// The experts' latent input of the rank's tokens. Every tensor-parallel rank has the whole
/// projection (Megatron-LM d98e8a6, core/transformer/moe/moe_layer.py).
Value ExpertRoute::narrowed(Value tokens) const {
    if (!experts.latent) return tokens;
    const std::int64_t hidden = size().hidden;
    const std::string name = names.prefix + names.mlp + ".fc1_latent_proj";
    LinearShape shape{hidden, *experts.latent, Sharding::Replicated};
    shape.rows = size().stream_tokens;
    const int weight = builder.whole_parameter(name + ".weight", {*experts.latent, hidden});
    return linear(builder, {name, "experts.narrow", layer}, shape, {{weight}, {}}, tokens);
}

/// The norm of the experts' output, before it is projected back.
Value ExpertRoute::normed(Value narrow) const {
    const std::string name = names.prefix + names.mlp + ".latent_norm";
    const int gain = builder.norm_weight(name + ".weight", *experts.latent);
    return norm_of_columns(builder, {name, "experts.latent_norm", layer}, gain, narrow,
                           *experts.latent);
}

/// Back to the hidden width, with the branch's gradient.
Value ExpertRoute::widened(Value narrow, int gradient) const {
    const std::int64_t hidden = size().hidden;
    const std::string name = names.prefix + names.mlp + ".fc2_latent_proj";
    LinearShape shape{*experts.latent, hidden, Sharding::Replicated};
    shape.rows = size().stream_tokens;
    const int weight = builder.whole_parameter(name + ".weight", {hidden, *experts.latent});
    return linear(builder, {name, "experts.widen", layer}, shape, {{weight}, {}}, narrow, gradient);
}

Value expert_branch(GraphBuilder& builder, const Experts& experts, Value normed, int gradient) {
    const int layer = builder.layer_index;
    size_for_layer(builder.size, builder.model(), builder.how(), layer);
    const Sizes& size = builder.size;
    const ExpertRoute route{builder, experts, layer_names(builder.model(), layer), layer};
    const Value weights = route.weights(normed);
    const Value rows = route.to_experts(route.narrowed(normed), weights);
    LinearShape in;
    in.inputs = route.width();
    in.outputs = size.gates * size.expert_ffn;
    in.rows = size.expert_rows;
    in.products = size.experts;
    in.bias = experts.bias;
    const bool fused = route.fuses_products();
    in.gradient_cast_before = fused;
    const std::size_t fc1 = builder.next_operator();
    const Value wide = expert_products(builder, route.at("fc1"), in, route.parameters(true), rows);
    builder.mark(fc1, Module::ExpertFc1);
    const std::size_t nonlinearity = builder.next_operator();
    route.mark_at_experts(wide);
    const Value active =
        activate(builder, route.at("act"), wide,
                 {experts.activation, experts.bias, true, size.all_expert_rows(), size.expert_ffn});
    route.mark_at_experts(active);
    if (const auto& kept = builder.graph.operators.back().kept_copy)
        route.mark_at_experts({kept->copy, kept->copy});
    if (builder.how().kernels.weighted_experts_activation && !experts.weighs_input)
        route.weigh_activation(weights);
    if (fused)
        route.compute_in_products();
    else
        route.clamp();
    builder.mark(nonlinearity, Module::MoeActivation);
    LinearShape out = in;
    out.inputs = size.expert_ffn;
    out.outputs = route.width();
    out.gradient_cast_before = false;
    out.cast_before = fused;
    out.keeps_original = builder.leaves_to_replay(Module::MoeActivation);
    const Value back =
        expert_products(builder, route.at("fc2"), out, route.parameters(false), active);
    route.mark_at_experts(back);
    route.add_biases(out.outputs);
    if (!experts.latent) return route.from_experts(back, weights, gradient);
    const int of_narrow = builder.tensor("d.experts.widen.in", route.token_bytes());
    const Value narrow = route.from_experts(back, weights, of_narrow);
    return route.widened(experts.latent_norm ? route.normed(narrow) : narrow, gradient);
}

}  // namespace debubble::models
