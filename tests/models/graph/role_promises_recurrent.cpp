#include "tests/models/graph/role_promises.h"

/// Recurrent layers.
namespace debubble::models {

void Promise::operator()(const op::Convolution& it) {
    const DeltaNet net = *keys().delta_net;
    EXPECT_EQ(it.columns, net.convolved() / ranks());
    EXPECT_EQ(it.tokens, in_sequences());
    read(it.x, e * it.tokens * net.projected() / ranks(), "fi", "i");
    make(it.y, e * it.tokens * it.columns, "f", "i");
}

void Promise::operator()(const op::StateSpaceScan& it) {
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

void Promise::operator()(const op::DeltaRule& it) {
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

void Promise::operator()(const op::GroupedNorm& it) {
    const std::int64_t bytes = e * it.tokens * it.columns;
    EXPECT_EQ(it.gate.has_value(), keys().mixer == MixerKind::DeltaNet);
    read(it.x, bytes, "fi", "i");
    make(it.y, bytes, "f", "i");
    role(it.statistics, 4 * it.tokens * it.groups, "fi");
    if (!it.gate) return;
    const DeltaNet& net = *keys().delta_net;  // whose gate may be a product of its own
    const bool apart = net.channel_decay || net.fixed_decay;
    const std::int64_t gate = apart ? net.value_width() : net.projected();
    read(*it.gate, e * it.tokens * gate / ranks(), "fi", "i");
}

/// What is planned alone has no roles but what it reads and writes.
void Promise::operator()(const op::Planned& it) {
    for (const int tensor : op.forward_uses) role(tensor, kAnySize, "f");
    for (const int tensor : op.backward_input_uses) role(tensor, kAnySize, "i");
    for (const op::Value& value : it.reads) reads[value.tensor] = value.gradient;
    for (const op::Value& value : it.writes) {
        EXPECT_TRUE(uses.contains(value.tensor));
        makes[value.tensor] = value.gradient;
    }
}

}  // namespace debubble::models
