#include <cmath>

#include "base/check.h"
#include "exec/core/stage/operators/heads_call.h"
#include "models/graph/replays.h"

/// Attention over the heads that run_heads.cpp has prepared.
namespace debubble::exec {

namespace {

Attention attention_of(const OperatorCall& call, const op::Heads& roles, const Heads& heads,
                       std::int64_t first_query) {
    const models::Attention& layer = call.attention();
    Attention attention;
    attention.causal = call.model().causal;
    attention.first_query = first_query;
    attention.scale = score_magnitude(layer) * layer.score_scale();
    attention.soft_cap = layer.score_softcap;
    attention.window = layer.window;
    attention.chunk = layer.chunk;
    const std::int64_t first_head =
        heads.queries != layer.heads ? call.tensor_rank() * heads.queries : 0;
    if (layer.alibi) attention.alibi = Alibi{layer.heads, first_head};
    if (roles.layout == op::Heads::Layout::Packed) attention.packed_row = roles.columns();
    if (call.state.step->training && call.how().attention_dropout && call.state.tools.dropout > 0) {
        AttentionDropout dropout;
        dropout.dropout = {call.state.tools.dropout, call.random_stream("attention")};
        dropout.all_heads = layer.heads;
        dropout.all_positions = call.how().seq_length;
        dropout.first_sample = call.inputs().first_sample;
        dropout.first_head = first_head;
        attention.dropout = dropout;
    }
    return attention;
}

TensorView log_sums_of(const OperatorCall& call, const op::Attention& roles, const Heads& heads) {
    const auto* flash = std::get_if<op::FlashKernel>(&roles.kernel);
    DEBUBBLE_CHECK(flash != nullptr, "the executor's attention never writes the scores");
    return call.tensor(flash->log_sum_exp, {heads.samples, heads.queries, heads.rows},
                       DataType::Fp32);
}

/// True where the queries that are there have their factors already: attention alone runs again.
bool has_grown(const OperatorCall& call, const op::Attention& roles) {
    return call.part == models::Part::Again &&
           !models::is_made_again(call.graph, roles.in.queries.tensor);
}

/// Multiplies queries, or their gradients, by the factors of their positions if the layer has some.
void grow_queries(const OperatorCall& call, const op::Attention& roles, const Heads& heads,
                  const TensorView& queries) {
    const auto& how = call.attention().temperature;
    if (!how) return;
    TensorView rows = queries;
    if (roles.in.layout == op::Heads::Layout::Packed)
        rows.shape = {heads.samples, heads.rows, roles.in.columns() / heads.head_dim,
                      heads.head_dim};
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i)
        call.kernels().grow_queries({how->floor, how->scale, positions[i], heads.queries},
                                    of_stretch(rows, heads, i));
}

}  // namespace

void forward(const OperatorCall& call, const op::Attention& roles) {
    const Heads heads = extents_of(call, roles.in);
    const QueryKeyValue in = parts_of(call, roles.in, Of::Values, heads);
    if (call.attention().temperature && !has_grown(call, roles))
        grow_queries(call, roles, heads, in.q);
    const KeysAndValues kv = seen_keys(call, roles, heads, in.kv, KeyUse::Forward);
    const TensorView out = call.tensor(roles.out.tensor, heads.result_shape());
    const TensorView log_sum = log_sums_of(call, roles, heads);
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const auto of = [&](const TensorView& x) { return of_stretch(x, heads, i); };
        call.kernels().attention_forward(attention_of(call, roles.in, heads, positions[i]),
                                         of(in.q), kv.k, kv.v, of(out), of(log_sum));
    }
    if (roles.sinks) call.kernels().sinks_forward(call.parameter(*roles.sinks), out, log_sum);
}

void forward(const OperatorCall& call, const op::OutputGate& roles) {
    const Shape shape{call.tokens(), roles.columns};
    call.kernels().output_gate_forward(call.tensor(roles.x.tensor, shape),
                                       call.tensor(roles.gate.tensor, shape),
                                       call.tensor(roles.y.tensor, shape));
}

void backward_input(const OperatorCall& call, const op::OutputGate& roles) {
    const Shape shape{call.tokens(), roles.columns};
    call.kernels().output_gate_backward_input(
        call.tensor(roles.y.gradient, shape), call.tensor(roles.x.tensor, shape),
        call.tensor(roles.gate.tensor, shape), call.tensor(roles.x.gradient, shape),
        call.tensor(roles.gate.gradient, shape));
}

void backward_input(const OperatorCall& call, const op::Attention& roles) {
    const Heads heads = extents_of(call, roles.in);
    const QueryKeyValue in = parts_of(call, roles.in, Of::Values, heads);
    const QueryKeyValue dx = parts_of(call, roles.in, Of::Gradients, heads);
    const TensorView dout = call.tensor(roles.out.gradient, heads.result_shape());
    const TensorView out = call.tensor(roles.out.tensor, heads.result_shape());
    const TensorView log_sum = log_sums_of(call, roles, heads);
    if (roles.sinks)
        call.kernels().sinks_backward_weight(dout, out, log_sum, call.parameter(*roles.sinks),
                                             call.gradient(*roles.sinks));
    const KeysAndValues kv = seen_keys(call, roles, heads, in.kv, KeyUse::Backward);
    const KeysAndValues sums = key_gradient_sums(call, roles, heads, dx.kv);
    // Whether gradients are summed over slices.
    const bool sums_up = roles.in.keys && !roles.gathered;
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const auto of = [&](const TensorView& x) { return of_stretch(x, heads, i); };
        Attention attention = attention_of(call, roles.in, heads, positions[i]);
        if (i == 0 && !sums_up) attention.key_gradients = Write::Overwrite;
        call.kernels().attention_backward_input(attention, of(dout), of(in.q), kv.k, kv.v, of(out),
                                                of(log_sum), of(dx.q), sums.k, sums.v);
    }
    grow_queries(call, roles, heads, dx.q);
    hand_out_key_gradients(call, roles, heads, sums, dx.kv);
}

}  // namespace debubble::exec
