#include "tests/models/graph/role_promises.h"

/// Attention and its heads.
namespace debubble::models {

/// Columns of values that a product of queries and keys alone does not make.
std::int64_t Promise::missing(const op::Heads& it) const {
    const bool packed = it.layout == op::Heads::Layout::Packed;
    return packed && keys().keys_are_values ? it.value_columns() : 0;
}

void Promise::heads(const op::Heads& it, std::int64_t of_tokens, const char* value, bool copies) {
    const std::int64_t rows = e * of_tokens;
    std::int64_t columns = it.keys ? it.query_columns() : it.columns();
    columns -= missing(it);
    role(it.queries.tensor, copies ? kAnySize : rows * columns, value);
    role(it.queries.gradient, rows * columns, "i");
    if (!it.keys) return;
    role(it.keys->tensor, rows * (it.key_columns() + it.value_columns()), value);
    role(it.keys->gradient, rows * (it.key_columns() + it.value_columns()), "i");
}

void Promise::operator()(const op::SplitHeads& it) {
    EXPECT_EQ(it.heads.layout, op::Heads::Layout::Apart);
    EXPECT_EQ(it.rotates, keys().rotary);
    const std::int64_t gates = it.gate ? it.heads.query_columns() : 0;
    EXPECT_EQ(it.gate.has_value(), keys().output_gate);
    const std::int64_t made = keys().keys_are_values ? it.heads.value_columns() : 0;
    read(it.packed, e * tokens * (it.heads.columns() + gates - made), "f", "i");
    if (it.gate) make(*it.gate, e * tokens * gates, "f", "i");
    heads(it.heads, tokens, "f", how.kernels.attention_copies);
    makes[it.heads.queries.tensor] = it.heads.queries.gradient;
    if (it.heads.keys) makes[it.heads.keys->tensor] = it.heads.keys->gradient;
    role(it.tables, 4 * e * (tokens / how.micro_batch) * keys().head_dim, "fi");
}

void Promise::operator()(const op::HeadNorm& it) {
    heads(it.heads, tokens, "f", false);
    reads[it.heads.queries.tensor] = it.heads.queries.gradient;
    EXPECT_EQ(graph.parameters[it.query_gain].elements(), it.heads.head_dim);
    EXPECT_EQ(graph.parameters[it.key_gain].elements(), it.heads.head_dim);
    role(it.kept, e * tokens * (it.heads.query_columns() + it.heads.key_columns()), "fi");
    role(it.statistics, 4 * tokens * (it.heads.heads + it.heads.kv_heads), "fi");
}

void Promise::operator()(const op::WidthNorm& it) {
    heads(it.heads, tokens, "f", false);
    reads[it.heads.queries.tensor] = it.heads.queries.gradient;
    EXPECT_EQ(graph.parameters[it.query_gain].elements_of_rank(how), it.heads.query_columns());
    EXPECT_EQ(graph.parameters[it.key_gain].elements_of_rank(how), it.heads.key_columns());
    role(it.kept, e * tokens * (it.heads.query_columns() + it.heads.key_columns()), "fi");
    role(it.statistics, 8 * tokens, "fi");
    role(it.sums, 8 * tokens, "f");
    role(it.gradient_sums, 8 * tokens, "i");
}

void Promise::operator()(const op::HeadL2Norm& it) {
    heads(it.heads, tokens, "f", false);
    reads[it.heads.queries.tensor] = it.heads.queries.gradient;
    role(it.kept, e * tokens * (it.heads.query_columns() + it.heads.key_columns()), "fi");
    role(it.statistics, 4 * tokens * (it.heads.heads + it.heads.kv_heads), "fi");
}

void Promise::operator()(const op::LatentHeads& it) {
    const std::int64_t rope = keys().latent->rope_dim;
    const std::int64_t own = it.heads.head_dim - rope;
    const std::int64_t rows = e * tokens;
    read(it.queries, rows * it.heads.query_columns(), "f", "i");
    read(it.keys_values, rows * it.heads.heads * (own + it.heads.value_dim), "f", "i");
    read(it.rotated_keys, e * stream / model.hidden * (keys().latent->key_rank + rope), "f", "i");
    heads(it.heads, tokens, "f", false);
    makes[it.heads.queries.tensor] = it.heads.queries.gradient;
    if (it.heads.keys) makes[it.heads.keys->tensor] = it.heads.keys->gradient;
    role(it.gathered, rows * rope, "f");
    role(it.gathered_gradient, rows * rope, "i");
}

void Promise::operator()(const op::Rope& it) {
    EXPECT_EQ(it.heads.layout, op::Heads::Layout::Packed);
    heads(it.heads, tokens, "f", false);
    reads[it.heads.queries.tensor] = it.heads.queries.gradient;
}

void Promise::operator()(const op::Attention& it) {
    const std::int64_t rows = tokens * how.exchanging();
    heads(it.in, rows, "fi", how.kernels.attention_copies);
    reads[it.in.queries.tensor] = it.in.queries.gradient;
    if (it.in.keys) reads[it.in.keys->tensor] = it.in.keys->gradient;
    const std::int64_t chunk = e * rows * (it.in.key_columns() + it.in.value_columns());
    const std::int64_t out = e * rows * it.in.heads * it.in.value_dim, slices = how.slice + 1;
    make(it.out, out, "f", "i");
    std::visit(Overloaded{[&](const op::FlashKernel& kernel) {
                              role(kernel.log_sum_exp, 4 * rows * it.in.heads, "fi");
                              role(kernel.query_gradient, 4 * rows * it.in.query_columns(), "i");
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
    const bool gated = keys().output_gate && !keys().latent;
    const std::int64_t gates = gated ? it.in.query_columns() : 0;
    const std::int64_t made = keys().keys_are_values ? it.in.value_columns() : 0;
    role(it.packed, e * tokens * (it.in.columns() + gates - made), "fi");
    for (const int tensor : it.kept_beside) role(tensor, kAnySize, "fi");
    EXPECT_EQ(it.sinks.has_value(), keys().sinks);
    if (it.sinks) {
        EXPECT_EQ(graph.parameters[*it.sinks].elements_of_rank(how),
                  it.in.heads * how.exchanging());
    }
    EXPECT_EQ(it.gathered.has_value(), how.context > 1 && how.kernels.context_communication ==
                                                              ContextCommunication::AllGather);
}

void Promise::unfused(const op::Attention& it, const op::UnfusedKernel& kernel, std::int64_t rows) {
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

void Promise::operator()(const op::OutputGate& it) {
    const std::int64_t bytes = e * tokens * it.columns;
    read(it.x, bytes, "fi", "i");
    read(it.gate, bytes, "fi", "i");
    make(it.y, bytes, "f", "i");
}

}  // namespace debubble::models
