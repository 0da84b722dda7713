#pragma once

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/overloaded.h"
#include "models/graph.h"
#include "models/layer_keys.h"
#include "models/layer_names.h"

/// What the kind of an operator promises of the tensors in its roles: their sizes, by the letters
/// of the literature, and the passes that use them.
namespace debubble::models {

using Passes = std::set<char>;  ///< (f)orward, backward-(i)nput, backward-(w)eight

constexpr std::int64_t kAnySize = -1;  ///< of a copy whose size a framework's habit decides

struct Use {
    Passes passes;
    std::set<std::int64_t> bytes;  ///< one, if all roles of a tensor agree
    friend bool operator==(const Use&, const Use&) = default;
};
using Uses = std::map<int, Use>;

/// What the operator's kind promises of each of its tensors.
struct Promise {
    const StageGraph& graph;
    const Operator& op;
    const Execution& how = graph.execution;
    const Architecture& model = graph.architecture;
    std::int64_t e = size_of(how.compute);
    std::int64_t tokens = how.tokens();
    std::int64_t stream = (how.sequence_parallel ? tokens / how.tensor : tokens) * model.hidden;
    bool drops = how.hidden_dropout;
    std::int64_t routed = how.sequence_parallel ? tokens / how.tensor : tokens;
    Uses uses = {};
    std::map<int, int> reads = {};  ///< values from other operators, with their gradients
    std::map<int, int> makes = {};
    std::map<int, int> branches = {};  ///< values that are also read with another gradient

    LayerKeys keys() const { return keys_of(model.layer_at(op.layer.value())); }
    void role(int tensor, std::int64_t bytes, const char* passes) {
        Use& use = uses[tensor];
        for (const char* pass = passes; *pass != '\0'; ++pass) use.passes.insert(*pass);
        if (bytes != kAnySize) use.bytes.insert(bytes);
    }
    void role(const std::optional<int>& tensor, std::int64_t bytes, const char* passes) {
        if (tensor) role(*tensor, bytes, passes);
    }
    void read(op::Value x, std::int64_t bytes, const char* value, const char* gradient) {
        role(x.tensor, bytes, value);
        role(x.gradient, bytes, gradient);
        reads[x.tensor] = x.gradient;
    }
    void make(op::Value y, std::int64_t bytes, const char* value, const char* gradient) {
        role(y.tensor, bytes, value);
        role(y.gradient, bytes, gradient);
        makes[y.tensor] = y.gradient;
    }
    /// One kernel there, one back.
    void pass_on(op::Value x, std::int64_t x_bytes, op::Value y, std::int64_t y_bytes) {
        read(x, x_bytes, "f", "i");
        make(y, y_bytes, "f", "i");
    }
    std::int64_t table_bytes(int parameter) const {
        return e * graph.parameters[parameter].elements_of_rank(how);
    }

    void linear(const op::Linear& it, const char* weight_pass) {
        const std::int64_t wide = e * it.rows * it.inputs, made = e * it.rows * it.outputs;
        const bool kept = it.gathered && it.gathered == it.gathered_again;
        role(it.x, it.gathers_x ? wide / how.tensor : wide, "f");
        if (!kept) role(it.x, it.gathers_x ? wide / how.tensor : wide, weight_pass);
        role(it.x_gradient, it.gathers_x ? wide / how.tensor : wide, "i");
        if (it.x_gradient) reads[it.x] = *it.x_gradient;
        role(it.gathered, wide, "f");
        role(it.gathered_again, wide, weight_pass);
        role(it.x_gradient_partial, wide, "i");
        role(it.x_gradient_part, it.gathers_x ? wide / how.tensor : wide, "i");
        role(it.partial, made, "f");
        role(it.y_gradient_gathered, made, "i");
        role(it.y_gradient_gathered, made, weight_pass);
        std::int64_t weights = 0;
        for (const int weight : it.weights) weights += table_bytes(weight);
        EXPECT_EQ(weights, e * it.inputs * it.outputs);
        role(it.weight_gradient, weights, weight_pass);
    }
    void linear_result(const op::Linear& it, std::int64_t bytes, const char* weight_pass) {
        if (it.partial) bytes /= how.tensor;
        make(it.y, bytes, "f", "i");
        if (!it.y_gradient_gathered) role(it.y.gradient, bytes, weight_pass);
    }

    void operator()(const op::TokenEmbedding& it) {
        role(it.tokens, 8 * tokens, "fw");
        const bool cut = it.sharding == Sharding::Column && how.tensor > 1;
        make(it.y, cut ? e * tokens * model.hidden / how.tensor : e * stream, "f", "w");
        role(it.partial, e * tokens * model.hidden, "f");
        role(it.gathered_gradient, e * tokens * model.hidden, "w");
        role(it.table_gradient, table_bytes(it.table), "w");
    }
    void operator()(const op::PositionEmbedding& it) {
        role(it.x, e * stream, "f");
        role(it.y, e * stream, "f");
        role(it.gradient, e * stream, drops ? it.table ? "iw" : "i" : "w");
        reads[it.x] = makes[it.y] = it.gradient;
        role(it.mask, stream, "fi");
        if (!it.table) return;
        role(it.table->gradient, table_bytes(it.table->parameter), "w");
        if (!it.table->gathered) return;
        const std::int64_t whole = e * tokens / how.micro_batch * model.hidden;
        role(it.table->gathered->part, whole / how.tensor, "f");
        role(it.table->gathered->whole, whole, "f");
    }
    void operator()(const op::PatchEmbedding& it) {
        EXPECT_FALSE(it.product.x_gradient) << "images have none";
        linear(it.product, "w");
        linear_result(it.product, e * it.product.rows * it.product.outputs, "w");
    }
    void operator()(const op::ClassToken& it) {
        read(it.patches, e * (stream - how.micro_batch * model.hidden), "f", "i");
        make(it.y, e * stream, "f", "iw");
        role(it.mask, stream, "fi");
        EXPECT_EQ(graph.parameters[it.token].elements(), model.hidden);
        EXPECT_EQ(graph.parameters[it.positions].elements(), model.max_positions * model.hidden);
    }
    void operator()(const op::Norm& it) {
        const bool layer_norm = it.function == Norm::LayerNorm;
        const std::int64_t rows = stream / model.hidden;
        const std::int64_t columns = graph.parameters[it.gain].elements();
        std::int64_t x_columns = columns;
        if (op.layer && keys().latent && columns == keys().latent->key_rank)
            x_columns += keys().latent->rope_dim;
        read(it.x, e * rows * x_columns, "fi", "i");
        make(it.y, e * rows * columns, "f", "i");
        role(it.statistics, it.normalised ? e * rows : rows * (layer_norm ? 8 : 4), "fi");
        role(it.normalised, e * rows * columns, "fi");
        role(it.through, e * stream, "i");
        role(it.x_gradient_part, e * stream, "i");
        EXPECT_EQ(it.shift.has_value(), layer_norm);
        EXPECT_EQ(it.x_gradient_part.has_value(), it.through == it.x.gradient);
    }
    void operator()(const op::Linear& it) {
        linear(it, "w");
        linear_result(it, e * it.rows * it.outputs, "w");
    }
    void operator()(const op::ExpertProducts& it) {
        read(it.x, e * it.rows * it.inputs, "fw", "i");
        make(it.y, e * it.rows * it.outputs, "f", "iw");
        role(it.weight_gradient, e * it.experts * it.inputs * it.outputs, "w");
        std::int64_t weights = 0;
        for (const int weight : it.weights) weights += table_bytes(weight);
        EXPECT_EQ(weights, e * it.experts * it.inputs * it.outputs);
        std::int64_t biases = 0;
        for (const int bias : it.biases) biases += table_bytes(bias);
        EXPECT_EQ(biases, keys().linear_bias ? e * it.experts * it.outputs : 0);
    }
    void heads(const op::Heads& it, std::int64_t of_tokens, const char* value, bool copies) {
        const std::int64_t rows = e * of_tokens;
        const std::int64_t columns = it.keys ? it.query_columns() : it.columns();
        role(it.queries.tensor, copies ? kAnySize : rows * columns, value);
        role(it.queries.gradient, rows * columns, "i");
        if (!it.keys) return;
        role(it.keys->tensor, rows * (it.key_columns() + it.value_columns()), value);
        role(it.keys->gradient, rows * (it.key_columns() + it.value_columns()), "i");
    }
    void operator()(const op::SplitHeads& it) {
        EXPECT_EQ(it.heads.layout, op::Heads::Layout::Apart);
        EXPECT_EQ(it.rotates, keys().rotary);
        const std::int64_t gates = it.gate ? it.heads.query_columns() : 0;
        EXPECT_EQ(it.gate.has_value(), keys().output_gate);
        read(it.packed, e * tokens * (it.heads.columns() + gates), "f", "i");
        if (it.gate) make(*it.gate, e * tokens * gates, "f", "i");
        heads(it.heads, tokens, "f", how.kernels.attention_copies);
        makes[it.heads.queries.tensor] = it.heads.queries.gradient;
        if (it.heads.keys) makes[it.heads.keys->tensor] = it.heads.keys->gradient;
        role(it.tables, 4 * e * (tokens / how.micro_batch) * keys().head_dim, "fi");
    }
    void operator()(const op::HeadNorm& it) {
        heads(it.heads, tokens, "f", false);
        reads[it.heads.queries.tensor] = it.heads.queries.gradient;
        EXPECT_EQ(graph.parameters[it.query_gain].elements(), it.heads.head_dim);
        EXPECT_EQ(graph.parameters[it.key_gain].elements(), it.heads.head_dim);
        role(it.kept, e * tokens * (it.heads.query_columns() + it.heads.key_columns()), "fi");
        role(it.statistics, 4 * tokens * (it.heads.heads + it.heads.kv_heads), "fi");
    }
    void operator()(const op::WidthNorm& it) {
        heads(it.heads, tokens, "f", false);
        reads[it.heads.queries.tensor] = it.heads.queries.gradient;
        EXPECT_EQ(graph.parameters[it.query_gain].elements_of_rank(how), it.heads.query_columns());
        EXPECT_EQ(graph.parameters[it.key_gain].elements_of_rank(how), it.heads.key_columns());
        role(it.kept, e * tokens * (it.heads.query_columns() + it.heads.key_columns()), "fi");
        role(it.statistics, 8 * tokens, "fi");
        role(it.sums, 8 * tokens, "f");
        role(it.gradient_sums, 8 * tokens, "i");
    }
    void operator()(const op::HeadL2Norm& it) {
        heads(it.heads, tokens, "f", false);
        reads[it.heads.queries.tensor] = it.heads.queries.gradient;
        role(it.kept, e * tokens * (it.heads.query_columns() + it.heads.key_columns()), "fi");
        role(it.statistics, 4 * tokens * (it.heads.heads + it.heads.kv_heads), "fi");
    }
    void operator()(const op::OpenBranch& it) {
        role(it.x.tensor, e * stream, "f");
        role(it.x.gradient, e * stream, "i");
        role(it.through, e * stream, "i");
        role(it.y.gradient, e * stream, "i");
        EXPECT_EQ(it.x.tensor, it.y.tensor);
        EXPECT_NE(it.x.gradient, it.y.gradient);
        reads[it.x.tensor] = it.x.gradient;
        branches[it.y.tensor] = it.y.gradient;
    }
    void operator()(const op::Concat& it) {
        read(it.a, e * stream, "f", "i");
        read(it.b, e * stream, "f", "i");
        make(it.y, 2 * e * stream, "f", "i");
    }
    void operator()(const op::ScatterTokens& it) {
        pass_on(it.x, e * tokens * model.hidden, it.y, e * stream);
    }
    void operator()(const op::SoftCap& it) {
        const std::int64_t bytes = e * it.rows * it.columns;
        read(it.x, bytes, "fi", "i");
        make(it.y, bytes, "f", "i");
        EXPECT_EQ(it.cap, model.logit_softcap);
    }
    void operator()(const op::LatentHeads& it) {
        const std::int64_t rope = keys().latent->rope_dim;
        const std::int64_t own = it.heads.head_dim - rope;
        const std::int64_t rows = e * tokens;
        read(it.queries, rows * it.heads.query_columns(), "f", "i");
        read(it.keys_values, rows * it.heads.heads * (own + it.heads.value_dim), "f", "i");
        read(it.rotated_keys, e * stream / model.hidden * (keys().latent->key_rank + rope), "f",
             "i");
        heads(it.heads, tokens, "f", false);
        makes[it.heads.queries.tensor] = it.heads.queries.gradient;
        if (it.heads.keys) makes[it.heads.keys->tensor] = it.heads.keys->gradient;
        role(it.gathered, rows * rope, "f");
        role(it.gathered_gradient, rows * rope, "i");
    }
    void operator()(const op::AddBranches& it) {
        read(it.a, e * stream, "f", "");
        read(it.b, e * stream, "f", "");
        make(it.y, e * stream, "f", "");
    }
    void operator()(const op::Rope& it) {
        EXPECT_EQ(it.heads.layout, op::Heads::Layout::Packed);
        heads(it.heads, tokens, "f", false);
        reads[it.heads.queries.tensor] = it.heads.queries.gradient;
    }
    void operator()(const op::Attention& it) {
        const bool exchanges = how.kernels.context_communication == ContextCommunication::AllToAll;
        const std::int64_t rows = exchanges ? tokens * how.context : tokens;
        heads(it.in, rows, "fi", how.kernels.attention_copies);
        reads[it.in.queries.tensor] = it.in.queries.gradient;
        if (it.in.keys) reads[it.in.keys->tensor] = it.in.keys->gradient;
        const std::int64_t chunk = e * rows * (it.in.key_columns() + it.in.value_columns());
        const std::int64_t out = e * rows * it.in.heads * it.in.value_dim, slices = how.slice + 1;
        make(it.out, out, "f", "i");
        std::visit(Overloaded{[&](const op::FlashKernel& kernel) {
                                  role(kernel.log_sum_exp, 4 * rows * it.in.heads, "fi");
                                  role(kernel.query_gradient, 4 * rows * it.in.query_columns(),
                                       "i");
                                  if (!it.out_again) role(it.out.tensor, out, "i");
                              },
                              [&](const op::UnfusedKernel& kernel) { unfused(it, kernel, rows); }},
                   it.kernel);
        if (it.out_again) {
            role(it.out_again->out, out, "i");
            role(it.out_again->exchanged, out, "i");
        }
        if (it.ring) {
            role(it.ring->forward, 2 * chunk * slices, "f");
            role(it.ring->backward, 2 * chunk * slices, "i");
            role(it.ring->gradient, 2 * chunk * slices, "i");
        }
        if (it.gathered) {
            const std::int64_t sent = chunk * how.context;
            role(it.gathered->sent, sent, "f");
            role(it.gathered->joined, sent * slices, "f");
            role(it.gathered->sent_again, sent, "i");
            role(it.gathered->joined_again, sent * slices, "i");
            role(it.gathered->joined_gradient, sent * slices, "i");
            role(it.gathered->chunk_gradient, chunk, "i");
        }
        if (it.seen) {
            role(it.seen->forward, chunk * slices, "f");
            role(it.seen->backward, chunk * slices, "i");
            role(it.seen->gradient, chunk * slices, "i");
        }
        const std::int64_t gates = keys().output_gate ? it.in.query_columns() : 0;
        role(it.packed, e * tokens * (it.in.columns() + gates), "fi");
        EXPECT_EQ(it.sinks.has_value(), keys().sinks);
        if (it.sinks) {
            EXPECT_EQ(graph.parameters[*it.sinks].elements_of_rank(how),
                      it.in.heads * (exchanges ? how.context : 1));
        }
        EXPECT_EQ(it.gathered.has_value(), how.context > 1 && how.kernels.context_communication ==
                                                                  ContextCommunication::AllGather);
    }
    void unfused(const op::Attention& it, const op::UnfusedKernel& kernel, std::int64_t rows) {
        const std::int64_t keys =
            model.causal ? how.seq_length / how.slices * (how.slice + 1) : how.seq_length;
        const std::int64_t scores = rows * it.in.heads * keys;
        const auto kept = [&](const op::Probabilities& them, const char* passes) {
            role(them.softmax, e * scores, passes);
            role(them.mask, scores, passes);
            role(them.dropped, e * scores, passes);
        };
        kept(kernel.forward, "f");
        kept(kernel.backward, "i");
        EXPECT_EQ(kernel.forward.softmax == kernel.backward.softmax,
                  how.recompute != Recompute::Selective);
        role(kernel.scores, e * scores, "f");
        role(kernel.probabilities_gradient, e * scores, "i");
        role(kernel.scores_gradient, e * scores, "i");
    }
    void operator()(const op::Activation& it) {
        const std::int64_t bytes = e * it.rows * it.columns;
        read(it.x, (it.gated() ? 2 : 1) * bytes, "fi", "i");
        make(it.y, bytes, "f", "i");
        role(it.silu, bytes, "fi");
        EXPECT_EQ(it.function, keys().activation);
        const bool shared = op.name.find("shared_expert") != std::string::npos;
        EXPECT_EQ(it.of_experts, keys().experts > 0 && !shared);
        if (!it.weights) return;
        role(it.weights->rows, 4 * it.rows, "fi");
        role(it.weights->gradient, 4 * routed * keys().experts, "i");
    }
    void operator()(const op::Residual& it) {
        role(it.x, e * stream, "f");
        role(it.branch, e * stream, "f");
        role(it.y, e * stream, "f");
        role(it.mask, stream, "fi");
        role(it.dropped, e * stream, "f");
        role(it.gradient, e * stream, drops ? "i" : "");
        role(it.branch_gradient, e * stream, drops ? "i" : "");
        EXPECT_EQ(it.gradient != it.branch_gradient, drops);
        reads[it.branch] = it.branch_gradient;
        makes[it.y] = it.gradient;
    }
    void operator()(const op::GatherColumns& it) {
        pass_on(it.x, e * tokens * it.columns / how.tensor, it.y, e * tokens * it.columns);
    }
    void operator()(const op::SliceColumns& it) {
        pass_on(it.x, e * tokens * it.columns, it.y, e * tokens * it.columns / how.tensor);
    }
    void operator()(const op::ExchangeHeads& it) {
        const std::int64_t bytes = graph.tensors[it.sorted].bytes.count;
        pass_on(it.x, bytes, it.y, bytes);
        role(it.sorted, bytes, "f");
        role(it.sorted_gradient, bytes, "i");
    }
    void operator()(const op::CopyContext& it) {
        const std::int64_t bytes = e * tokens * keys().heads / how.tensor *
                                   std::get<Attention>(model.layer_at(*op.layer).mixer).value_dim;
        pass_on(it.x, bytes, it.y, bytes);
    }
    void operator()(const op::PickClassToken& it) {
        pass_on(it.x, e * stream, it.y, e * how.micro_batch * model.hidden);
    }
    void operator()(const op::Router& it) {
        const std::int64_t entries = routed * keys().experts;
        read(it.tokens, e * stream, "fw", "i");
        make(it.weights, 4 * entries, "fi", "iw");
        role(it.logits, e * entries, it.keeps_logits ? "fi" : "f");
        EXPECT_EQ(it.keeps_logits, keys().router != Router::Softmax || how.router_terms.any());
        EXPECT_EQ(it.counts.has_value(), how.router_terms.balance);
        if (it.counts)
            role(*it.counts,
                 4 * keys().experts * (how.router_terms.by_sequence ? how.micro_batch : 1), "fi");
        EXPECT_EQ(it.correction.has_value(), keys().router_bias_correction);
        if (it.correction) {
            EXPECT_EQ(graph.buffers[*it.correction].shape, std::vector{keys().experts});
        }
        EXPECT_EQ(it.kept.has_value(), how.expert_capacity.has_value());
        role(it.kept, 4 * entries, "f");
        role(it.logits_gradient, e * entries, "iw");
        role(it.tokens_gradient_part, e * stream, "i");
        EXPECT_EQ(graph.parameters[it.gate].elements(), keys().experts * model.hidden);
        EXPECT_EQ(it.bias.has_value(), keys().router_bias);
        if (it.bias) {
            EXPECT_EQ(graph.parameters[*it.bias].elements(), keys().experts);
        }
    }
    void operator()(const op::OutputGate& it) {
        const std::int64_t bytes = e * tokens * it.columns;
        read(it.x, bytes, "fi", "i");
        read(it.gate, bytes, "fi", "i");
        make(it.y, bytes, "f", "i");
    }
    void operator()(const op::SharedGate& it) {
        read(it.tokens, e * stream, "fi", "i");
        read(it.branch, e * stream, "fi", "i");
        make(it.y, e * stream, "f", "i");
        role(it.scores, 4 * routed, "fi");
        EXPECT_EQ(graph.parameters[it.weight].elements(), model.hidden);
    }
    /// The tokens of the whole sequences that a rank has while a recurrence runs.
    std::int64_t in_sequences() const { return tokens * how.context; }
    std::int64_t ranks() const { return std::int64_t{how.tensor} * how.context; }
    void operator()(const op::Convolution& it) {
        const DeltaNet net = *keys().delta_net;
        EXPECT_EQ(it.columns, net.convolved() / ranks());
        EXPECT_EQ(it.tokens, in_sequences());
        read(it.x, e * it.tokens * net.projected() / ranks(), "fi", "i");
        make(it.y, e * it.tokens * it.columns, "f", "i");
    }
    void operator()(const op::StateSpaceScan& it) {
        const Mamba mamba = *keys().mamba;
        EXPECT_EQ(it.tokens, in_sequences());
        EXPECT_EQ(it.part.heads, mamba.heads / ranks());
        EXPECT_EQ(it.part.groups, mamba.groups / ranks());
        const std::int64_t inner = e * it.tokens * mamba.inner() / ranks();
        read(it.in, e * it.tokens * mamba.projected() / ranks(), "fi", "i");
        make(it.out, inner, "f", "i");
        role(it.ungated, inner, "fi");
        const std::int64_t convolved = e * it.tokens * mamba.convolved() / ranks();
        role(it.convolved, convolved, "f");
        role(it.convolved_again, convolved, "i");
        role(it.convolved_gradient, convolved, "i");
        const std::int64_t scores = 4 * it.chunks * it.part.groups * mamba.chunk * mamba.chunk;
        role(it.scores, scores, "f");
        role(it.scores_again, scores, "i");
        const std::int64_t states = 4 * it.chunks * it.part.inner() * mamba.state;
        role(it.states, states, "f");
        role(it.states_again, states, "i");
        role(it.states_gradient, states, "i");
        for (const int of_heads : {it.decay, it.skip, it.step_bias})
            EXPECT_EQ(graph.parameters[of_heads].elements(), mamba.heads);
        EXPECT_EQ(it.convolution_bias.has_value(), mamba.convolution_bias);
    }
    void operator()(const op::DeltaRule& it) {
        const DeltaNet net = *keys().delta_net;
        const std::int64_t heads = net.value_heads / ranks();
        EXPECT_EQ(it.tokens, in_sequences());
        EXPECT_EQ(it.part.value_heads, heads);
        read(it.convolved, e * it.tokens * net.convolved() / ranks(), "fi", "i");
        read(it.projected, e * it.tokens * net.projected() / ranks(), "fi", "i");
        make(it.out, e * it.tokens * heads * net.value_dim, "f", "i");
        const std::int64_t widths = e * it.tokens * heads * (2 * net.key_dim + net.value_dim);
        role(it.heads, widths, "fi");
        role(it.heads_gradient, widths, "i");
        role(it.rates, (4 + e) * it.tokens * heads, "fi");
        role(it.inverse, e * it.tokens * heads * net.chunk, "fi");
        const std::int64_t updates = e * it.tokens * heads * (net.key_dim + net.value_dim);
        role(it.updates, updates, "f");
        role(it.updates_again, updates, "i");
        const std::int64_t states = e * it.chunks * heads * net.key_dim * net.value_dim;
        role(it.states, states, "f");
        role(it.states_again, states, "i");
        role(it.states_gradient, states, "i");
        for (const int of_heads : {it.decay, it.rate_bias})
            EXPECT_EQ(graph.parameters[of_heads].elements(), net.value_heads);
    }
    void operator()(const op::GroupedNorm& it) {
        const std::int64_t bytes = e * it.tokens * it.columns;
        EXPECT_EQ(it.gate.has_value(), keys().mixer == MixerKind::DeltaNet);
        read(it.x, bytes, "fi", "i");
        make(it.y, bytes, "f", "i");
        role(it.statistics, 4 * it.tokens * it.groups, "fi");
        if (it.gate)
            read(*it.gate, e * it.tokens * keys().delta_net->projected() / ranks(), "fi", "i");
    }
    /// Elements of the rank's tokens as wide as what experts read.
    std::int64_t of_rows() const {
        const std::int64_t latent = keys().expert_latent;
        return latent > 0 ? stream / model.hidden * latent : stream;
    }
    void operator()(const op::Permute& it) {
        pass_on(it.tokens, e * of_rows(), it.rows, e * of_rows() * keys().experts_per_token);
        role(it.weights, 4 * routed * keys().experts, "fi");
        EXPECT_EQ(it.weights_gradient.has_value(), keys().weighs_experts_input);
        role(it.weights_gradient, 4 * routed * keys().experts, "i");
        if (it.weights_gradient) role(it.tokens.tensor, e * of_rows(), "i");
    }
    void operator()(const op::Dispatch& it) { pass_on(it.x, kAnySize, it.y, kAnySize); }
    void operator()(const op::Combine& it) {
        const std::int64_t rows = e * of_rows() * keys().experts_per_token;
        pass_on(it.rows, kAnySize, it.y, e * of_rows());
        role(it.weights, 4 * routed * keys().experts, "fi");
        if (!it.weighed) return;
        role(it.rows.tensor, kAnySize, "i");
        read(it.weighed->weights, 4 * routed * keys().experts, "fi", "i");
        role(it.weighed->rows, rows, "f");
        role(it.weighed->rows_gradient, rows, "i");
    }
    void operator()(const op::Loss& it) {
        const std::int64_t entries = it.rows * it.columns;
        read(it.logits, e * entries, "f", "i");
        role(it.softmax, size_of(it.softmax_type) * entries, "fi");
        role(it.shifted, 4 * entries, "f");
        role(it.softmax_gradient, e * entries, "i");
        if (it.softmax_gradient) role(it.logits.tensor, e * entries, "i");
        const bool by_inputs =
            model.tied_embedding &&
            std::ranges::any_of(model.sharding, [&](const ShardingOverride& line) {
                return line.matches(stage_names(model).token_embedding);
            });
        const bool whole =
            model.family == Family::Vit || how.kernels.loss == LossKernel::EagerPyTorch;
        EXPECT_EQ(it.cut, how.tensor > 1 && !whole && !by_inputs);
    }
    void operator()(const op::ChunkedLoss& it) {
        EXPECT_EQ(it.rows, std::min<std::int64_t>(1024, tokens));
        linear(it.head, "i");
        linear_result(it.head, e * it.rows * it.head.outputs, "i");
    }
};

/// What the lists of the operator say.
inline Uses listed(const StageGraph& graph, const Operator& op) {
    Uses uses;
    const auto add = [&](const std::vector<int>& list, char pass) {
        for (const int tensor : list) {
            uses[tensor].passes.insert(pass);
            uses[tensor].bytes = {graph.tensors[tensor].bytes.count};
        }
    };
    add(op.forward_uses, 'f');
    add(op.backward_input_uses, 'i');
    add(op.backward_weight_uses, 'w');
    return uses;
}

inline Promise promise_of(const StageGraph& graph, const Operator& op) {
    Promise promise{graph, op};
    std::visit(promise, op.roles);
    return promise;
}

/// The promise in the words of the lists: sizes that are open are the tensor's own, and a role
/// that no pass touches is none.
inline Uses promised(const StageGraph& graph, const Promise& promise) {
    Uses uses = promise.uses;
    for (auto& [tensor, use] : uses)
        if (use.bytes.empty()) use.bytes = {graph.tensors[tensor].bytes.count};
    std::erase_if(uses, [](const auto& use) { return use.second.passes.empty(); });
    return uses;
}

}  // namespace debubble::models
