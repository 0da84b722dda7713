#include "models/build/recurrent/recurrent.h"

/// Mamba-2 (Dao and Gu 2024, arXiv:2405.21060) as Megatron-Core runs it (ssm/mamba_mixer.py): a
/// product into gate, values, B, C and steps; one function for convolution, scan and gate
/// (mamba_ssm's mamba_split_conv1d_scan_combined), which keeps the product and the scan's result
/// and makes the rest again; and a norm of every group.
namespace debubble::models {

namespace {

constexpr std::int64_t kState = 4;  ///< bytes of an element of states and steps: fp32

/// The convolution, scan and gate of one rank.
struct Scan {
    GraphBuilder& builder;
    const OperatorPlace& place;
    Mamba part;  ///< with the heads and groups of this rank
    Recurrence rank;
    Operator op;
    models::op::StateSpaceScan roles = {};

    std::int64_t element() const { return builder.size.element; }
    std::int64_t columns(std::int64_t each) const { return element() * rank.tokens() * each; }
    std::int64_t state_bytes() const { return kState * rank.chunks() * part.inner() * part.state; }
    std::int64_t score_bytes() const {
        return kState * rank.chunks() * part.groups * rank.chunk * rank.chunk;
    }
    Kernel copies(const char* suffix, std::int64_t read, std::int64_t written) const {
        return moves(place.kernel + suffix, place.layer, read, written);
    }
    /// A product for each chunk of each group.
    Kernel of_groups(const char* suffix, std::int64_t m, std::int64_t n, std::int64_t k) const {
        return gemm(builder, place.kernel + suffix, place.layer,
                    {rank.chunks() * part.groups, m, n, k, {}});
    }
    /// A product for each chunk of each head.
    Kernel of_heads(const char* suffix, std::int64_t m, std::int64_t n, std::int64_t k) const {
        return gemm(builder, place.kernel + suffix, place.layer,
                    {rank.chunks() * part.heads, m, n, k, {}});
    }

    std::vector<Kernel> before_output() const;
    void forward(Value in, Value out);
    void backward(Value in, Value out);
};

/// Convolution, steps, scores C B^T, and the states at the ends of chunks, each of which is the sum
/// of what a chunk adds and the one before it.
std::vector<Kernel> Scan::before_output() const {
    const std::int64_t c = rank.chunk;
    return {copies(".conv", columns(part.convolved()), columns(part.convolved())),
            copies(".steps", columns(part.heads), 2 * kState * rank.tokens() * part.heads),
            of_groups(".scores", c, c, part.state),
            of_heads(".states", part.head_dim, part.state, c),
            copies(".states.pass", state_bytes(), state_bytes())};
}

void Scan::forward(Value in, Value out) {
    const std::int64_t c = rank.chunk;
    op.inputs = {in.tensor};
    op.saved = {in.tensor, roles.ungated};
    op.forward = before_output();
    append(op.forward, {of_heads(".inside", c, part.head_dim, c),
                        of_heads(".across", c, part.head_dim, part.state),
                        copies(".gate", columns(2 * part.inner()), columns(part.inner()))});
    roles.convolved = builder.scratch(place.kernel + ".conv", columns(part.convolved()));
    roles.scores = builder.scratch(place.kernel + ".scores", score_bytes());
    roles.states = builder.scratch(place.kernel + ".states", state_bytes());
    op.forward_uses = {in.tensor,    roles.convolved, roles.scores,
                       roles.states, out.tensor,      roles.ungated};
}

/// The gradients of a product are two of its size.
void Scan::backward(Value in, Value out) {
    const std::int64_t c = rank.chunk;
    const std::int64_t p = part.head_dim;
    const std::int64_t n = part.state;
    op.backward_input = before_output();
    append(op.backward_input,
           {copies(".gate.dx", columns(3 * part.inner()), columns(2 * part.inner())),
            of_heads(".dstates", p, n, c), copies(".dstates.pass", state_bytes(), state_bytes()),
            of_heads(".inside.dx", c, p, c), of_heads(".across.dx", c, p, n),
            of_heads(".db", c, n, p), of_heads(".dc", c, n, p), of_heads(".dscores", c, c, p),
            of_groups(".scores.db", c, n, c), of_groups(".scores.dc", c, n, c),
            copies(".conv.dx", columns(2 * part.convolved()), columns(part.convolved()))});
    roles.convolved_again =
        builder.scratch(place.kernel + ".conv.again", columns(part.convolved()));
    roles.scores_again = builder.scratch(place.kernel + ".scores.again", score_bytes());
    roles.states_again = builder.scratch(place.kernel + ".states.again", state_bytes());
    roles.states_gradient = builder.scratch("d." + place.kernel + ".states", state_bytes());
    roles.convolved_gradient =
        builder.scratch("d." + place.kernel + ".conv", columns(part.convolved()));
    op.backward_input_uses = {
        out.gradient,       in.tensor,          roles.ungated,         roles.convolved_again,
        roles.scores_again, roles.states_again, roles.states_gradient, roles.convolved_gradient,
        in.gradient};
}

Value scan(GraphBuilder& builder, const LayerNames& names, const OperatorPlace& place,
           const Mamba& whole, Value in) {
    const Recurrence rank = recurrence(builder, whole.chunk);
    Mamba part = whole;
    part.heads = share(builder, rank, whole.heads, "heads of a state-space layer");
    part.groups = share(builder, rank, whole.groups, "groups of a state-space layer");
    const std::int64_t bytes = builder.size.element * rank.tokens() * part.inner();
    const Value out{builder.tensor(place.kernel + ".out", bytes),
                    builder.tensor("d." + place.kernel + ".out", bytes), in.cut};
    Scan core{builder, place, part, rank, start(place)};
    const std::string prefix = names.prefix + names.attention;
    auto& roles = core.roles;
    roles.in = in;
    roles.out = out;
    roles.part = part;
    roles.tokens = rank.tokens();
    roles.chunks = rank.chunks();
    roles.convolution =
        cut_by_heads(builder, prefix + ".conv1d.weight", {whole.convolved(), 1, whole.convolution});
    core.op.parameters = {roles.convolution};
    if (whole.convolution_bias)
        core.op.parameters.push_back(
            *(roles.convolution_bias = cut_by_heads(builder, prefix + ".conv1d.bias",
                                                    {whole.convolved()}, Initial::Zeros)));
    roles.decay = cut_by_heads(builder, prefix + ".A_log", {whole.heads}, Initial::Ones);
    roles.skip = cut_by_heads(builder, prefix + ".D", {whole.heads}, Initial::Ones);
    roles.step_bias = cut_by_heads(builder, prefix + ".dt_bias", {whole.heads}, Initial::Ones);
    for (const int parameter : {roles.decay, roles.skip, roles.step_bias})
        core.op.parameters.push_back(parameter);
    roles.ungated = builder.tensor(place.kernel + ".ungated", bytes);
    core.forward(in, out);
    core.backward(in, out);
    core.op.roles = roles;
    set_pace(builder, core.op);
    builder.graph.operators.push_back(std::move(core.op));
    return out;
}

}  // namespace

Value mamba_context(GraphBuilder& builder, const LayerNames& names, const Mamba& mamba,
                    Value normed) {
    if (mamba.step_rank) return selective_context(builder, names, mamba, normed);
    const auto at = [&](const char* name, const char* kernel) {
        return OperatorPlace{names.prefix + names.attention + name, kernel, builder.layer_index};
    };
    const std::int64_t ranks = builder.size.tensor;
    const int weight = cut_by_heads(builder, at(".in_proj", "").name + ".weight",
                                    {mamba.projected(), builder.size.hidden});
    const LinearShape shape{builder.size.hidden, mamba.projected() / ranks, Sharding::Column};
    Value packed = linear(builder, at(".in_proj", "mamba.in"), shape, {{weight}, {}}, normed);
    packed = to_sequences(builder, at("", "mamba.exchange"), packed, mamba.projected() / ranks);
    Value gated = scan(builder, names, at("", "mamba.scan"), mamba, packed);
    gated = to_tokens(builder, at("", "mamba.return"), gated, mamba.inner() / ranks);
    if (!mamba.norm) return gated;
    const int gain =
        cut_by_heads(builder, at(".norm", "").name + ".weight", {mamba.inner()}, Initial::Ones);
    return grouped_norm(builder, at(".norm", "mamba.norm"),
                        {builder.size.tokens, mamba.inner() / ranks,
                         std::max<std::int64_t>(1, mamba.groups / ranks)},
                        gain, gated, {});
}

}  // namespace debubble::models
