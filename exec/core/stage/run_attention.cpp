#include <cmath>

#include "base/check.h"
#include "exec/core/stage/seen_keys.h"

/// Splits heads from the packed product, rotates them, and computes their attention. Queries, keys
/// and values lie one after the other in the tensor that the split leaves; where the sequence is
/// sliced, every slice has a tensor of its own for keys and values.
namespace debubble::exec {

namespace {

Heads extents_of(const OperatorCall& call, const op::Heads& roles) {
    const auto stretches = std::ssize(call.stretches());
    const std::int64_t all_rows = call.how().context > 1
                                      ? (call.slice + 1) * call.rows() * call.how().context
                                      : call.first_position() + call.rows();
    return {stretches * call.samples(),
            call.rows() / stretches,
            roles.heads,
            roles.kv_heads,
            roles.head_dim,
            all_rows,
            stretches};
}

struct QueryKeyValue {
    TensorView q;
    KeysAndValues kv;
};

enum class Of { Values, Gradients };

/// Queries, keys and values, or their gradients, in their tensors.
QueryKeyValue parts_of(const OperatorCall& call, const op::Heads& roles, Of which,
                       const Heads& heads) {
    const auto index = [&](op::Value value) {
        return which == Of::Values ? value.tensor : value.gradient;
    };
    const std::int64_t query = roles.query_columns(), key = roles.key_columns();
    const std::int64_t columns = roles.keys ? query : roles.columns();
    const TensorView all = call.tensor(index(roles.queries), {call.tokens(), columns});
    const TensorView q{all.data, heads.query_shape(), all.type};
    if (roles.layout == op::Heads::Layout::Packed) {
        const auto at = [&](std::int64_t column) { return q.data + column * size_of(q.type); };
        return {
            q,
            {{at(query), heads.key_shape(), q.type}, {at(query + key), heads.key_shape(), q.type}}};
    }
    std::byte* const behind = roles.keys
                                  ? call.tensor(index(*roles.keys), {call.tokens(), 2 * key}).data
                                  : q.data + q.bytes();
    return {q, keys_and_values_at(behind, heads.key_shape(), all.type)};
}

Attention attention_of(const OperatorCall& call, const op::Heads& roles, const Heads& heads,
                       std::int64_t first_query) {
    const std::int64_t all_heads = std::get<models::Attention>(call.layer().mixer).heads;
    Attention attention;
    attention.causal = call.model().causal;
    attention.first_query = first_query;
    attention.scale = 1 / std::sqrt(static_cast<double>(roles.head_dim));
    if (roles.layout == op::Heads::Layout::Packed) attention.packed_row = roles.columns();
    if (call.state.step->training && call.how().attention_dropout && call.state.tools.dropout > 0) {
        AttentionDropout dropout;
        dropout.dropout = {call.state.tools.dropout, call.random_stream("attention")};
        dropout.all_heads = all_heads;
        dropout.all_positions = call.how().seq_length;
        dropout.first_sample = call.inputs().first_sample;
        if (heads.queries != all_heads) dropout.first_head = call.tensor_rank() * heads.queries;
        attention.dropout = dropout;
    }
    return attention;
}

/// Rotates the first heads of a tensor [samples, rows, heads, head_dim] to their positions, or
/// back.
enum class Turn { There, Back };
void rotate(const OperatorCall& call, const Heads& heads, Turn turn, const TensorView& x,
            std::int64_t turned) {
    const TensorView cosines = call.state.cosines.view(), sines = call.state.sines.view();
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const std::int64_t first = positions[static_cast<std::size_t>(i)];
        const TensorView stretch = of_stretch(x, heads, i);
        if (turn == Turn::There) {
            call.kernels().rope_forward(first, turned, cosines, sines, stretch);
        } else {
            call.kernels().rope_backward_input(first, turned, cosines, sines, stretch);
        }
    }
}

/// Rotates queries and keys inside the packed product, or its gradient.
void rotate_packed(const OperatorCall& call, const op::Heads& roles, Turn turn, int packed) {
    const Heads heads = extents_of(call, roles);
    const TensorView all = call.tensor(
        packed, {heads.samples, heads.rows, heads.queries + 2 * heads.keys, heads.head_dim});
    rotate(call, heads, turn, all, heads.queries + heads.keys);
}

TensorView log_sums_of(const OperatorCall& call, const op::Attention& roles, const Heads& heads) {
    const auto* flash = std::get_if<op::FlashKernel>(&roles.kernel);
    DEBUBBLE_CHECK(flash != nullptr, "what is executed never writes the scores");
    return call.tensor(flash->log_sum_exp, {heads.samples, heads.queries, heads.rows},
                       DataType::Fp32);
}

}  // namespace

void forward(const OperatorCall& call, const op::Rope& roles) {
    rotate_packed(call, roles.heads, Turn::There, roles.heads.queries.tensor);
}

void backward_input(const OperatorCall& call, const op::Rope& roles) {
    rotate_packed(call, roles.heads, Turn::Back, roles.heads.queries.gradient);
}

void forward(const OperatorCall& call, const op::SplitHeads& roles) {
    const Heads heads = extents_of(call, roles.heads);
    const QueryKeyValue out = parts_of(call, roles.heads, Of::Values, heads);
    const TensorView packed =
        call.tensor(roles.packed.tensor, {heads.samples, heads.rows, roles.heads.columns()});
    call.kernels().split_heads_forward(0, packed, out.q, out.kv.k, out.kv.v);
    if (roles.rotates) {
        rotate(call, heads, Turn::There, out.q, heads.queries);
        rotate(call, heads, Turn::There, out.kv.k, heads.keys);
    }
    if (call.state.tools.keys != nullptr) keep_keys(call, heads, out.kv);
}

void backward_input(const OperatorCall& call, const op::SplitHeads& roles) {
    const Heads heads = extents_of(call, roles.heads);
    const QueryKeyValue dout = parts_of(call, roles.heads, Of::Gradients, heads);
    if (roles.rotates) {
        rotate(call, heads, Turn::Back, dout.q, heads.queries);
        rotate(call, heads, Turn::Back, dout.kv.k, heads.keys);
    }
    call.kernels().split_heads_backward_input(
        0, dout.q, dout.kv.k, dout.kv.v,
        call.tensor(roles.packed.gradient, {heads.samples, heads.rows, roles.heads.columns()}));
}

void forward(const OperatorCall& call, const op::Attention& roles) {
    const Heads heads = extents_of(call, roles.in);
    const QueryKeyValue in = parts_of(call, roles.in, Of::Values, heads);
    const KeysAndValues kv = seen_keys(call, roles, heads, in.kv, KeyUse::Forward);
    const TensorView out = call.tensor(roles.out.tensor, heads.query_shape());
    const TensorView log_sum = log_sums_of(call, roles, heads);
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const auto of = [&](const TensorView& x) { return of_stretch(x, heads, i); };
        call.kernels().attention_forward(
            attention_of(call, roles.in, heads, positions[static_cast<std::size_t>(i)]), of(in.q),
            kv.k, kv.v, of(out), of(log_sum));
    }
}

void backward_input(const OperatorCall& call, const op::Attention& roles) {
    const Heads heads = extents_of(call, roles.in);
    const QueryKeyValue in = parts_of(call, roles.in, Of::Values, heads);
    const QueryKeyValue dx = parts_of(call, roles.in, Of::Gradients, heads);
    const TensorView dout = call.tensor(roles.out.gradient, heads.query_shape());
    const TensorView out = call.tensor(roles.out.tensor, heads.query_shape());
    const TensorView log_sum = log_sums_of(call, roles, heads);
    const KeysAndValues kv = seen_keys(call, roles, heads, in.kv, KeyUse::Backward);
    const KeysAndValues sums = key_gradient_sums(call, roles, heads, dx.kv);
    // Whether gradients are summed over slices.
    const bool sums_up = roles.in.keys && !roles.gathered;
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const auto of = [&](const TensorView& x) { return of_stretch(x, heads, i); };
        Attention attention =
            attention_of(call, roles.in, heads, positions[static_cast<std::size_t>(i)]);
        if (i == 0 && !sums_up) attention.key_gradients = Write::Overwrite;
        call.kernels().attention_backward_input(attention, of(dout), of(in.q), kv.k, kv.v, of(out),
                                                of(log_sum), of(dx.q), sums.k, sums.v);
    }
    hand_out_key_gradients(call, roles, heads, sums, dx.kv);
}

}  // namespace debubble::exec
