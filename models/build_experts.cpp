#include <cmath>

#include <fmt/format.h>

#include "models/graph_builder.h"
#include "models/layer_names.h"

/// A mixture of experts (Shazeer et al. 2017, arXiv:1701.06538; Mixtral, Jiang et al. 2024,
/// arXiv:2401.04088) on expert-parallel ranks, in the order of Megatron-Core's all-to-all token
/// dispatcher: rows are sorted by expert, exchanged, gathered over the ranks that cut an expert,
/// and go back the same way. Nothing is dropped, and no row waits for another.
namespace debubble::models {

namespace {

using Kind = Collective::Kind;
using Group = Collective::Group;

/// One way from the tokens to their experts, and the way back.
struct Route {
    GraphBuilder& builder;
    const Experts& experts;
    LayerNames names;
    int layer;

    std::string router() const { return names.prefix + names.router; }
    OperatorPlace at(const std::string& kernel) const {
        return {names.prefix + names.experts.substr(0, names.experts.rfind('.')),
                "experts." + kernel, layer};
    }
    const Sizes& size() const { return builder.size; }
    /// Columns of a row that goes to an expert.
    std::int64_t width() const { return experts.width(size().hidden); }
    std::int64_t row_bytes(std::int64_t rows) const { return size().element * rows * width(); }
    /// The rank's tokens, as wide as rows.
    std::int64_t token_bytes() const { return row_bytes(size().stream_tokens); }
    /// The rows that this rank's own tokens make.
    std::int64_t routed() const { return size().stream_tokens * experts.per_token; }
    /// The rows for this rank's part of its experts, before the ranks that cut them share theirs.
    std::int64_t received() const { return size().all_expert_rows() / builder.how().expert_tensor; }

    Kernel communicate(const std::string& kernel, Kind kind, Group group,
                       std::int64_t bytes) const {
        return {"experts." + kernel, layer, Collective{kind, group, Bytes{bytes}}};
    }
    /// A row in the type in which it travels: the scales of its blocks come with it.
    std::int64_t sent_bytes(std::int64_t rows, Narrow type) const {
        return type == Narrow::None ? row_bytes(rows) : rows * narrow_bytes(type, width());
    }
    Kernel exchange(const std::string& kernel, bool returns, Narrow type) const {
        Kernel made = communicate(kernel, Kind::AllToAll, Group::Expert,
                                  builder.how().expert * sent_bytes(received(), type));
        auto& work = std::get<Collective>(made.work);
        work.rows_per_token = experts.per_token;
        work.experts = experts.count;
        if (builder.how().kernels.shared_expert_overlap)
            made.beside = returns ? Beside::Combine : Beside::Dispatch;
        return made;
    }
    Kernel copies(const std::string& kernel, std::int64_t read, std::int64_t written) const {
        return moves("experts." + kernel, layer, read, written);
    }

    bool sends_tokens() const {
        const Dispatcher by = builder.how().kernels.dispatcher;
        return by == Dispatcher::DeepEp || by == Dispatcher::HybridEp;
    }
    /// The exchange of rows towards the experts; in a type of 8 bits they are cast before it, and
    /// made wide again where they arrive. Tokens that are sent once are cast once.
    std::vector<Kernel> sent(const std::string& kernel, bool returns, Narrow type,
                             std::vector<int>& uses) const {
        Kernel moved = exchange(kernel, returns, type);
        if (type == Narrow::None) return {std::move(moved)};
        const std::int64_t own = sends_tokens() ? size().stream_tokens : routed();
        const std::int64_t arrive = received();
        const auto scratch = [&](const char* suffix, std::int64_t rows) {
            uses.push_back(builder.scratch("experts." + kernel + suffix, sent_bytes(rows, type)));
        };
        scratch(".cast", own);
        scratch(".arrived", arrive);
        if (shares())
            builder.graph.tensors[uses.back()].routed =
                RoutedRows{RoutedRows::Which::Received, sent_bytes(1, type)};
        return {copies(kernel + ".cast", row_bytes(own), sent_bytes(own, type)), std::move(moved),
                copies(kernel + ".widen", sent_bytes(arrive, type), row_bytes(arrive))};
    }

    /// Whether rows are sorted by kernels of their own, before an exchange or without one.
    bool sorts_rows() const { return builder.how().expert == 1 || !sends_tokens(); }

    /// What is done with the rank's own rows beside the exchange. DeepEP and HybridEP send tokens
    /// and sum what comes back in their own kernels, which read the map of tokens and experts; only
    /// what arrived is sorted (Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py).
    Kernel sorts(const std::string& kernel, std::int64_t read, std::int64_t written) const {
        if (sorts_rows()) return copies(kernel, read, written);
        const std::int64_t map = size().stream_tokens * experts.count;
        return copies(kernel, 4 * map, map);
    }

    /// PyTorch's kernels instead of a fused one, where rows are sorted before the exchange.
    bool permutes_eagerly() const {
        return builder.how().kernels.eager_permutation && sorts_rows();
    }
    std::vector<Kernel> permutes() const;
    std::vector<Kernel> unpermutes(const std::string& kernel, std::int64_t tokens) const;

    Value value(const std::string& kernel, std::int64_t bytes) const {
        return {builder.tensor("experts." + kernel + ".out", bytes),
                builder.tensor("d.experts." + kernel + ".out", bytes)};
    }
    /// Whether routers decide how many rows come to a rank: with all experts whole on it, the rows
    /// are those of its own tokens.
    bool shares() const { return builder.how().expert * builder.how().expert_tensor > 1; }
    /// Marks a value's tensors, made for `rows` rows, as those of the rows that come.
    void mark(Value value, RoutedRows::Which which, std::int64_t rows) const {
        if (!shares()) return;
        for (const int index : {value.tensor, value.gradient}) {
            Tensor& tensor = builder.graph.tensors[index];
            tensor.routed = RoutedRows{which, tensor.bytes.count / rows};
        }
    }
    void mark_at_experts(Value value) const {
        mark(value, RoutedRows::Which::AtExperts, size().all_expert_rows());
    }
    void mark_received(Value value) const { mark(value, RoutedRows::Which::Received, received()); }
    /// Moves rows: one kernel there, one back.
    Value moved(const std::string& kernel, op::Dispatch::Kind kind, bool returns, Value x,
                std::int64_t rows, Kernel there, Kernel back) const {
        const Value y = value(kernel, row_bytes(rows));
        Operator op = start(at(kernel), x);
        op.roles = op::Dispatch{kind, returns, x, y};
        op.forward = {std::move(there)};
        op.forward_uses = {x.tensor, y.tensor};
        op.backward_input = {std::move(back)};
        op.backward_input_uses = {y.gradient, x.gradient};
        builder.graph.operators.push_back(std::move(op));
        return y;
    }
    Value exchanged(Value x, bool returns) const {
        if (builder.how().expert == 1) return x;
        const std::string kernel = returns ? "return" : "dispatch";
        const KernelOptions& types = builder.how().kernels;
        const Value y =
            moved(kernel, op::Dispatch::Kind::Exchange, returns, x, returns ? routed() : received(),
                  exchange(kernel, returns, Narrow::None),
                  exchange(kernel + ".dx", returns, Narrow::None));
        // Towards the experts: the dispatch, and in the backward what the way back brought.
        Operator& op = builder.graph.operators.back();
        if (returns)
            op.backward_input =
                sent(kernel + ".dx", true, types.moe_combine_bwd_dtype, op.backward_input_uses);
        else
            op.forward = sent(kernel, false, types.moe_dispatch_fwd_dtype, op.forward_uses);
        if (!returns) mark_received(y);
        return y;
    }
    /// Gathers the rows of the ranks that cut each expert, or scatters their sums.
    Value gathered(Value x, bool returns) const {
        if (builder.how().expert_tensor == 1) return x;
        const std::string kernel = returns ? "scatter" : "gather";
        const std::int64_t all = row_bytes(size().all_expert_rows());
        const auto kernel_of = [&](const std::string& name, bool scatters) {
            return communicate(name, scatters ? Kind::ReduceScatter : Kind::AllGather,
                               Group::ExpertTensor, all);
        };
        const Value y = moved(kernel, op::Dispatch::Kind::Gather, returns, x,
                              returns ? received() : size().all_expert_rows(),
                              kernel_of(kernel, returns), kernel_of(kernel + ".dx", !returns));
        returns ? mark_received(y) : mark_at_experts(y);
        return y;
    }
    /// With one expert on the rank there is nothing to sort.
    Value sorted(Value x, bool returns) const {
        if (size().experts == 1) return x;
        const std::string kernel = returns ? "unsort" : "sort";
        const std::int64_t bytes = row_bytes(size().all_expert_rows());
        const Value y =
            moved(kernel, op::Dispatch::Kind::Sort, returns, x, size().all_expert_rows(),
                  copies(kernel, bytes, bytes), copies(kernel + ".dx", bytes, bytes));
        mark_at_experts(y);
        return y;
    }

    Value weights(Value tokens) const;
    void count_tokens(Operator& op, op::Router& roles) const;
    void drop_tokens(Operator& op, op::Router& roles) const;
    Value to_experts(Value tokens, Value weights) const;
    void weigh_activation(Value weights) const;
    Value from_experts(Value rows, Value weights, int gradient) const;
    void clamp() const;
    void add_biases(std::int64_t columns) const;
    LinearParameters parameters(bool in) const;
    Value narrowed(Value tokens) const;
    Value widened(Value narrow, int gradient) const;
};

/// Logits, scores and the k best: a weight in fp32 for every token and expert.
Value Route::weights(Value tokens) const {
    const std::int64_t count = experts.count;
    const std::int64_t rows = size().stream_tokens;
    const std::int64_t logits = size().element * rows * count;
    const std::int64_t probabilities = 4 * rows * count;
    const RouterTerms& terms = builder.how().router_terms;
    // The softmax of the chosen logits has its derivative by itself.
    const bool keeps_logits = experts.router != Router::Softmax || terms.any();
    const Value y = value("router", probabilities);
    Operator op = start({router(), "experts.router", layer});
    op.inputs = {tokens.tensor};
    op.saved = {tokens.tensor, y.tensor};
    op.parameters = {builder.whole_parameter(router() + ".weight", {count, size().hidden})};
    if (experts.router_bias)
        op.parameters.push_back(
            builder.whole_parameter(router() + ".bias", {count}, Initial::Zeros));
    op.forward = {
        gemm(builder, "experts.router", layer, {1, rows, count, size().hidden, {}}),
        copies("router.top_k", logits, probabilities),
    };
    op::Router roles{op.parameters.front(), {}, tokens, y};
    if (experts.router_bias) roles.bias = op.parameters.back();
    roles.logits = builder.scratch("experts.router.logits", logits);
    roles.logits_gradient = builder.scratch("d.experts.router.logits", logits);
    roles.keeps_logits = keeps_logits;
    if (experts.bias_correction)
        roles.correction = builder.buffer(router() + ".e_score_correction_bias", {count});
    op.forward_uses = {tokens.tensor, roles.logits, y.tensor};
    // The tokens' gradient has come from the experts: this is added to it.
    op.backward_input = {
        copies("router.top_k.dx", 2 * probabilities + (keeps_logits ? logits : 0), logits),
        gemm(builder, "experts.router.dx", layer, {1, rows, size().hidden, count, {}}),
        copies("router.accumulate", 2 * size().stream_bytes(), size().stream_bytes()),
    };
    roles.tokens_gradient_part = builder.scratch("d.experts.router.in", size().stream_bytes());
    op.backward_input_uses = {y.gradient, y.tensor, roles.logits_gradient,
                              roles.tokens_gradient_part, tokens.gradient};
    if (keeps_logits) {
        op.saved.push_back(roles.logits);
        op.backward_input_uses.push_back(roles.logits);
    }
    op.backward_weight = {
        gemm(builder, "experts.router.dw", layer, {1, size().hidden, count, rows, {}})};
    op.backward_weight_uses = {tokens.tensor, y.gradient, roles.logits_gradient};
    if (terms.balance) count_tokens(op, roles);
    if (builder.how().expert_capacity) drop_tokens(op, roles);
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return {roles.kept.value_or(y.tensor), y.gradient};
}

/// Of each expert's column of weights the largest stay (Megatron-Core's
/// apply_router_token_dropping).
void Route::drop_tokens(Operator& op, op::Router& roles) const {
    const std::int64_t bytes = 4 * size().stream_tokens * experts.count;
    const double even = static_cast<double>(routed()) / static_cast<double>(experts.count);
    roles.capacity = static_cast<std::int64_t>(std::ceil(even * *builder.how().expert_capacity));
    roles.kept = builder.tensor("experts.router.kept", bytes);
    op.forward.push_back(copies("router.drop", bytes, bytes));
    op.forward_uses.push_back(*roles.kept);
}

/// The tokens that are balanced together lie on all ranks that have a part of them. The last slice
/// of a sequence adds up those of all.
void Route::count_tokens(Operator& op, op::Router& roles) const {
    const Execution& how = builder.how();
    const RouterTerms& terms = how.router_terms;
    const std::int64_t bytes = 4 * experts.count * (terms.by_sequence ? size().samples : 1);
    roles.counts = builder.tensor("experts.router.counts", bytes);
    if (how.counts_tokens_once()) builder.graph.tensors[*roles.counts].slices = Across::Seen;
    op.forward.push_back(copies("router.count", 4 * size().stream_tokens * experts.count, bytes));
    const auto sum_over = [&](Group group) {
        op.forward.push_back(communicate("router.counts", Kind::AllReduce, group, bytes));
    };
    if (how.slice + 1 == how.slices) {
        if (size().scattered) sum_over(Group::Tensor);
        if (terms.by_step)
            sum_over(Group::Data);  // context-parallel ranks are among them
        else if (how.context > 1)
            sum_over(Group::Context);
    }
    op.forward_uses.push_back(*roles.counts);
    op.saved.push_back(*roles.counts);
    op.backward_input_uses.push_back(*roles.counts);
}

/// Of the map of tokens and experts: its transpose, the indices of the rows and their weights by
/// masked_select, which also counts, and then the rows by index_select.
std::vector<Kernel> Route::permutes() const {
    const std::int64_t own = row_bytes(routed());
    const std::int64_t map = size().stream_tokens * experts.count;
    return {copies("permute.map", map, map),
            copies("permute.count", map, 8),
            copies("permute.indices", 9 * map, 8 * routed()),
            copies("permute.weights.map", 4 * map, 4 * map),
            copies("permute.weights.count", map, 8),
            copies("permute.weights", 5 * map, 4 * routed()),
            copies("permute", own, own)};
}

/// Zeros, and what scatter_add and index_add read, and write once for every row.
std::vector<Kernel> Route::unpermutes(const std::string& kernel, std::int64_t tokens) const {
    const std::int64_t own = row_bytes(routed());
    return {copies(kernel + ".zero", 0, tokens), copies(kernel, 2 * own, own)};
}

Value Route::to_experts(Value tokens, Value weights) const {
    const std::int64_t stream = token_bytes();
    const std::int64_t own = row_bytes(routed());
    const Value rows = value("permute", own);
    Operator op = start(at("permute"), tokens);
    op.roles = op::Permute{tokens, rows, weights.tensor};
    // The router's weights determine the expert of each row.
    op.inputs.push_back(weights.tensor);
    op.saved.push_back(weights.tensor);
    op.forward = {sorts("permute", own, own)};
    op.forward_uses = {tokens.tensor, rows.tensor, weights.tensor};
    op.backward_input = {sorts("permute.dx", own, stream)};
    if (permutes_eagerly()) {
        op.forward = permutes();
        op.backward_input = unpermutes("permute.dx", stream);
    }
    op.backward_input_uses = {rows.gradient, tokens.gradient, weights.tensor};
    if (experts.weighs_input) {  // the weights' gradient is made of the tokens
        std::get<op::Permute>(op.roles).weights_gradient = weights.gradient;
        op.saved.push_back(tokens.tensor);
        op.backward_input_uses.push_back(tokens.tensor);
        op.backward_input_uses.push_back(weights.gradient);
        op.backward_input.push_back(copies("permute.weigh.dx", 2 * own, 4 * routed()));
    }
    builder.graph.operators.push_back(std::move(op));
    return sorted(gathered(exchanged(rows, false), false), false);
}

/// The last operator is the activation: it multiplies by each row's weight, which arrived with it.
void Route::weigh_activation(Value weights) const {
    Operator& op = builder.graph.operators.back();
    const int mine = builder.tensor("experts.act.weights", 4 * size().all_expert_rows());
    std::get<op::Activation>(op.roles).weights = {mine, weights.gradient};
    op.saved.push_back(mine);
    op.forward_uses.push_back(mine);
    op.backward_input_uses.push_back(mine);
    op.backward_input_uses.push_back(weights.gradient);
}

struct Moved {
    const char* name;
    std::int64_t read;
    std::int64_t written;
    std::int64_t launches = 1;
};

/// Kernels of PyTorch over `elements` elements, whose bytes `moved` gives for each.
std::vector<Kernel> eager(const GraphBuilder& builder, const std::string& of, int layer,
                          std::int64_t elements, std::initializer_list<Moved> moved) {
    std::vector<Kernel> kernels;
    for (const Moved& each : moved) {
        Kernel kernel = moves(of + each.name, layer, elements * each.read, elements * each.written);
        auto& work = std::get<Traffic>(kernel.work);
        work.pace = builder.how().kernels.eager_pace;
        work.launches = each.launches;
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

/// Either half of the input is clamped and both are put together again, before the fused activation
/// reads them; so are their gradients (weighted_bias_quick_geglu_impl, Megatron-LM
/// megatron/core/fusions/fused_bias_geglu.py).
void Route::clamp() const {
    if (!builder.how().kernels.eager_experts || experts.activation != Activation::ClampedSwiglu)
        return;
    Operator& op = builder.graph.operators.back();
    const std::int64_t wide = 2 * size().all_expert_rows() * size().expert_ffn;
    const std::int64_t e = size().element;
    const auto kernels = [&](std::initializer_list<Moved> moved) {
        return eager(builder, "experts.act", layer, wide, moved);
    };
    append(op.forward, kernels({{".clamp", e, e}, {".join", e, e}}));
    append(op.backward_input, kernels({{".clamp.dx", 2 * e, e}, {".join.dx", e, e}}));
}

/// t + b p of every expert's rows, biases b and weights p of the router in fp32, put together and
/// cast back (TEGroupedMLP._apply_bias in Megatron-LM, megatron/core/transformer/moe/experts.py);
/// the biases' and the weights' gradients are products of their own, whose sums are apart.
void Route::add_biases(std::int64_t columns) const {
    if (!builder.how().kernels.eager_experts || !experts.bias) return;
    Operator& op = builder.graph.operators.back();
    const std::int64_t e = size().element;
    const std::int64_t n = size().experts;
    const std::string name = "experts.fc2";
    const std::int64_t all = size().all_expert_rows() * columns;
    append(op.forward, eager(builder, name, layer, all,
                             {{".bias.weigh", 0, 4, n},
                              {".bias.add", 4 + e, 4, n},
                              {".bias.join", 4, 4},
                              {".bias.cast", 4, e}}));
    std::vector<Kernel> back = eager(builder, name, layer, all,
                                     {{".bias.cast.dx", e, 4},
                                      {".bias.add.dx", 4, e, n},
                                      {".bias.join.dx", e, e},
                                      {".bias.weigh.db", 4, 4, n},
                                      {".bias.weigh.dp", 4, 4, n},
                                      {".bias.sum.dp", 4, 0, n}});
    append(back, std::move(op.backward_input));
    op.backward_input = std::move(back);
}

/// `gradient` is that of the branch.
Value Route::from_experts(Value rows, Value weights, int gradient) const {
    rows = exchanged(gathered(sorted(rows, true), true), true);
    const std::int64_t own = row_bytes(routed());
    const std::int64_t stream = token_bytes();
    const Value branch{builder.tensor("experts.unpermute.out", stream), gradient};
    Operator op = start(at("unpermute"));
    op.inputs = {rows.tensor, weights.tensor};
    op::Combine roles{rows, branch, weights.tensor, {}};
    if (builder.how().kernels.weighted_experts_activation || experts.weighs_input) {
        op.roles = roles;
        op.forward = permutes_eagerly() ? unpermutes("unpermute", stream)
                                        : std::vector{sorts("unpermute", own, stream)};
        op.saved = {weights.tensor};
        op.forward_uses = {rows.tensor, weights.tensor, branch.tensor};
        op.backward_input = {sorts("unpermute.dx", stream, own)};
        op.backward_input_uses = {gradient, weights.tensor, rows.gradient};
        builder.graph.operators.push_back(std::move(op));
        return branch;
    }
    op.saved = {rows.tensor, weights.tensor};
    op.forward = {copies("unpermute.weigh", own, own), copies("unpermute", own, stream)};
    roles.weighed = {weights, builder.scratch("experts.unpermute.weighted", own), 0};
    op.forward_uses = {rows.tensor, weights.tensor, roles.weighed->rows, branch.tensor};
    op.backward_input = {copies("unpermute.dx", stream, own),
                         copies("unpermute.weigh.dx", 2 * own, own)};
    roles.weighed->rows_gradient = builder.scratch("d.experts.unpermute.weighted", own);
    op.backward_input_uses = {gradient,         roles.weighed->rows_gradient,
                              rows.tensor,      weights.tensor,
                              weights.gradient, rows.gradient};
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return branch;
}

/// The parameters of the experts of this expert-parallel rank. Ranks that cut an expert have the
/// biases of their outputs, and all of them the one that is added to the sum of theirs.
LinearParameters Route::parameters(bool in) const {
    const std::int64_t hidden = width();
    LinearParameters all;
    const auto add = [&](std::int64_t expert, const char* weight, std::int64_t inputs,
                         std::int64_t outputs, Sharding sharding) {
        const std::string name =
            fmt::format("{}{}.{}.{}", names.prefix, names.experts, expert, weight);
        const bool column = sharding == Sharding::Column;
        all.weights.push_back(builder.parameter(
            {name + ".weight", {outputs, inputs}, sharding, column ? 0 : 1, 1, {}, true}));
        if (!experts.bias) return;
        Parameter bias{
            name + ".bias", {outputs}, column ? sharding : Sharding::Replicated, 0, 1, {}, true};
        bias.initial = Initial::Zeros;
        all.biases.push_back(builder.parameter(std::move(bias)));
    };
    const bool gated = is_gated(experts.activation);
    const bool gate_first = gated || builder.model().family == Family::Llama;
    const std::int64_t first = builder.how().expert_rank * size().experts;
    for (std::int64_t expert = first; expert < first + size().experts; ++expert) {
        if (!in) {
            add(expert, names.of_expert[2], experts.ffn, hidden, Sharding::Row);
            continue;
        }
        add(expert, names.of_expert[gate_first ? 0 : 1], hidden, experts.ffn, Sharding::Column);
        if (gated) add(expert, names.of_expert[1], hidden, experts.ffn, Sharding::Column);
    }
    return all;
}

/// The narrower value that experts read, of the rank's tokens. Every tensor-parallel rank has the
/// product whole (Megatron-LM d98e8a6, core/transformer/moe/moe_layer.py).
Value Route::narrowed(Value tokens) const {
    if (experts.latent == 0) return tokens;
    const std::int64_t hidden = size().hidden;
    const std::string name = names.prefix + names.mlp + ".fc1_latent_proj";
    LinearShape shape{hidden, experts.latent, Sharding::Replicated};
    shape.rows = size().stream_tokens;
    const int weight = builder.whole_parameter(name + ".weight", {experts.latent, hidden});
    return linear(builder, {name, "experts.narrow", layer}, shape, {{weight}, {}}, tokens);
}

/// Back to the hidden width, with the branch's gradient.
Value Route::widened(Value narrow, int gradient) const {
    const std::int64_t hidden = size().hidden;
    const std::string name = names.prefix + names.mlp + ".fc2_latent_proj";
    LinearShape shape{experts.latent, hidden, Sharding::Replicated};
    shape.rows = size().stream_tokens;
    const int weight = builder.whole_parameter(name + ".weight", {hidden, experts.latent});
    return linear(builder, {name, "experts.widen", layer}, shape, {{weight}, {}}, narrow, gradient);
}

}  // namespace

Value expert_branch(GraphBuilder& builder, const Experts& experts, Value normed, int gradient) {
    const int layer = builder.layer_index;
    size_for_layer(builder.size, builder.model(), builder.how(), layer);
    const Sizes& size = builder.size;
    const Route route{builder, experts, layer_names(builder.model(), layer), layer};
    const Value weights = route.weights(normed);
    const Value rows = route.to_experts(route.narrowed(normed), weights);
    LinearShape in;
    in.inputs = route.width();
    in.outputs = size.gates * size.expert_ffn;
    in.rows = size.expert_rows;
    in.products = size.experts;
    in.bias = experts.bias;
    const std::size_t fc1 = builder.next_operator();
    const Value wide = expert_products(builder, route.at("fc1"), in, route.parameters(true), rows);
    builder.mark(fc1, Module::ExpertFc1);
    const std::size_t nonlinearity = builder.next_operator();
    route.mark_at_experts(wide);
    const Value active =
        activate(builder, route.at("act"), wide,
                 {experts.activation, experts.bias, true, size.all_expert_rows(), size.expert_ffn});
    route.mark_at_experts(active);
    if (builder.how().kernels.weighted_experts_activation && !experts.weighs_input)
        route.weigh_activation(weights);
    route.clamp();
    builder.mark(nonlinearity, Module::MoeActivation);
    LinearShape out = in;
    out.inputs = size.expert_ffn;
    out.outputs = route.width();
    const Value back =
        expert_products(builder, route.at("fc2"), out, route.parameters(false), active);
    route.mark_at_experts(back);
    route.add_biases(out.outputs);
    if (experts.latent == 0) return route.from_experts(back, weights, gradient);
    const int of_narrow = builder.tensor("d.experts.widen.in", route.token_bytes());
    return route.widened(route.from_experts(back, weights, of_narrow), gradient);
}

}  // namespace debubble::models
