#include <utility>

#include "base/check.h"
#include "exec/core/stage/operators/heads_call.h"

/// Splits the packed QKV projection into heads, normalises and rotates them, and assembles those of
/// latent attention.
namespace debubble::exec {

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
            roles.value_dim,
            all_rows,
            stretches};
}

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
        return {q,
                {{at(query), heads.key_shape(), q.type},
                 {at(query + key), heads.value_shape(), q.type}}};
    }
    std::byte* const after_queries =
        roles.keys ? call.tensor(index(*roles.keys), {call.tokens(), heads.pair_columns()}).data
                   : q.data + q.bytes();
    return {q, keys_and_values_at(after_queries, heads.key_shape(), heads.value_shape(), all.type)};
}

namespace {

/// Rotates the first heads of a tensor [samples, rows, heads, head_dim] to their positions, or
/// back.
enum class Direction { There, Back };
void rotate(const OperatorCall& call, const Heads& heads, Direction direction, const TensorView& x,
            std::int64_t turned) {
    const RotaryTable& table = call.rotary_table();
    const TensorView cosines = table.cosines.view(), sines = table.sines.view();
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const Rotary how{positions[i], turned};
        const TensorView stretch = of_stretch(x, heads, i);
        if (direction == Direction::There) {
            call.kernels().rope_forward(how, cosines, sines, stretch);
        } else {
            call.kernels().rope_backward_input(how, cosines, sines, stretch);
        }
    }
}

/// Rotates queries and keys inside the packed projection, or its gradient.
void rotate_packed(const OperatorCall& call, const op::Heads& roles, Direction direction,
                   int packed) {
    const Heads heads = extents_of(call, roles);
    const TensorView all = call.tensor(
        packed, {heads.samples, heads.rows, heads.queries + 2 * heads.keys, heads.head_dim});
    rotate(call, heads, direction, all, heads.queries + heads.keys);
}

/// The norms of each head of queries and of keys inside the packed projection.
struct HeadNormCall {
    const OperatorCall& call;
    HeadRun queries, keys;
    TensorView kept, statistics;
    std::int64_t columns;

    HeadNormCall(const OperatorCall& operator_call, const op::Heads& heads, int kept_values,
                 int factors)
        : call(operator_call),
          queries{0, 0, heads.heads, heads.head_dim, heads.gates ? heads.head_dim : 0},
          keys{first_key(heads), heads.heads, heads.kv_heads,
               heads.head_dim,   0,           first_key(heads) - heads.query_columns()},
          kept(call.tensor(kept_values,
                           {call.tokens(), heads.query_columns() + heads.key_columns()})),
          statistics(
              call.tensor(factors, {call.tokens(), heads.heads + heads.kv_heads}, DataType::Fp32)),
          columns(heads.columns()) {}

    TensorView packed(int index) const { return call.tensor(index, {call.tokens(), columns}); }
    static std::int64_t first_key(const op::Heads& heads) {
        return (heads.gates ? 2 : 1) * heads.query_columns();
    }
};

}  // namespace

void forward(const OperatorCall& call, const op::Rope& roles) {
    rotate_packed(call, roles.heads, Direction::There, roles.heads.queries.tensor);
}

void backward_input(const OperatorCall& call, const op::Rope& roles) {
    rotate_packed(call, roles.heads, Direction::Back, roles.heads.queries.gradient);
}

void forward(const OperatorCall& call, const op::HeadNorm& roles) {
    const HeadNormCall norm(call, roles.heads, roles.kept, roles.statistics);
    const TensorView x = norm.packed(roles.heads.queries.tensor);
    for (const auto& [run, gain] :
         {std::pair{norm.queries, roles.query_gain}, std::pair{norm.keys, roles.key_gain}})
        call.kernels().head_norm_forward(call.model().norm_eps, run, call.parameter(gain), x,
                                         norm.kept, norm.statistics);
}

void backward_input(const OperatorCall& call, const op::HeadNorm& roles) {
    const HeadNormCall norm(call, roles.heads, roles.kept, roles.statistics);
    const TensorView dx = norm.packed(roles.heads.queries.gradient);
    for (const auto& [run, gain] :
         {std::pair{norm.queries, roles.query_gain}, std::pair{norm.keys, roles.key_gain}})
        call.kernels().head_norm_backward(run, call.parameter(gain), norm.kept, norm.statistics, dx,
                                          call.gradient(gain));
}

void forward(const OperatorCall& call, const op::HeadL2Norm& roles) {
    const HeadNormCall norm(call, roles.heads, roles.kept, roles.statistics);
    const TensorView x = norm.packed(roles.heads.queries.tensor);
    for (const HeadRun& run : {norm.queries, norm.keys})
        call.kernels().head_norm_forward(call.model().norm_eps, run, {}, x, norm.kept,
                                         norm.statistics);
}

void backward_input(const OperatorCall& call, const op::HeadL2Norm& roles) {
    const HeadNormCall norm(call, roles.heads, roles.kept, roles.statistics);
    const TensorView dx = norm.packed(roles.heads.queries.gradient);
    for (const HeadRun& run : {norm.queries, norm.keys})
        call.kernels().head_norm_backward(run, {}, norm.kept, norm.statistics, dx, {});
}

namespace {

/// The norms of all queries and of all keys, which tensor-parallel ranks share.
struct WidthNormCall {
    struct Part {
        HeadRun run;
        std::int64_t columns;  ///< of all ranks
        int gain;
    };
    const OperatorCall& call;
    const op::WidthNorm& norm;
    Part parts[2] = {{{0, 0, norm.heads.heads, norm.heads.head_dim},
                      call.attention().query_width(),
                      norm.query_gain},
                     {{norm.heads.query_columns(), 1, norm.heads.kv_heads, norm.heads.head_dim},
                      call.attention().key_width(),
                      norm.key_gain}};
    TensorView kept = call.tensor(
        norm.kept, {call.tokens(), norm.heads.query_columns() + norm.heads.key_columns()});
    TensorView statistics = call.tensor(norm.statistics, {call.tokens(), 2}, DataType::Fp32);

    TensorView packed(int index) const {
        return call.tensor(index, {call.tokens(), norm.heads.columns()});
    }
    TensorView sums(int index) const {
        return call.tensor(index, {call.tokens(), 2}, DataType::Fp32);
    }
    /// Adds up the sums of ranks that have some of the heads each.
    void add_up(const TensorView& sums) const {
        if (norm.heads.heads != call.attention().heads) call.all_reduce(sums);
    }
};

}  // namespace

void forward(const OperatorCall& call, const op::WidthNorm& roles) {
    const WidthNormCall norm{call, roles};
    const TensorView x = norm.packed(roles.heads.queries.tensor), sums = norm.sums(roles.sums);
    for (const auto& part : norm.parts) call.kernels().width_norm_sums(part.run, x, sums);
    norm.add_up(sums);
    for (const auto& [run, columns, gain] : norm.parts)
        call.kernels().width_norm_forward(call.model().norm_eps, columns, run, call.parameter(gain),
                                          sums, x, norm.kept, norm.statistics);
}

void backward_input(const OperatorCall& call, const op::WidthNorm& roles) {
    const WidthNormCall norm{call, roles};
    const TensorView dx = norm.packed(roles.heads.queries.gradient);
    const TensorView sums = norm.sums(roles.gradient_sums);
    for (const auto& part : norm.parts)
        call.kernels().width_norm_gradient_sums(part.run, call.parameter(part.gain), norm.kept, dx,
                                                sums);
    norm.add_up(sums);
    for (const auto& [run, columns, gain] : norm.parts)
        call.kernels().width_norm_backward(columns, run, call.parameter(gain), norm.kept,
                                           norm.statistics, sums, dx, call.gradient(gain));
}

namespace {

/// A packed projection whose heads have queries and a gate next to each other, before keys and
/// values.
struct GatedHeads {
    enum class Way { Out, In };
    const OperatorCall& call;
    const op::Heads& heads;
    TensorView packed;
    TensorView gate;
    QueryKeyValue parts;

    void move(Way way) const {
        const std::int64_t dim = heads.head_dim, queries = heads.query_columns();
        const std::int64_t keys = heads.key_columns(), values = heads.value_columns();
        for (std::int64_t head = 0; head < heads.heads; ++head) {
            move_columns(way, 2 * head * dim, dim, parts.q, head * dim, queries);
            move_columns(way, (2 * head + 1) * dim, dim, gate, head * dim, queries);
        }
        move_columns(way, 2 * queries, keys, parts.kv.k, 0, keys);
        move_columns(way, 2 * queries + keys, values, parts.kv.v, 0, values);
    }

private:
    /// Between columns of the packed tensor and those of one that has `stride` of them.
    void move_columns(Way way, std::int64_t column, std::int64_t width, const TensorView& apart,
                      std::int64_t at, std::int64_t stride) const {
        const std::int64_t element = size_of(packed.type);
        const std::int64_t all =
            2 * heads.query_columns() + heads.key_columns() + heads.value_columns();
        const TensorView there{packed.data + column * element, {1, width}, packed.type};
        const TensorView alone{apart.data + at * element, {1, width}, apart.type};
        const Blocks out{call.tokens(), 1, width, all, stride};
        const Blocks in{call.tokens(), 1, width, stride, all};
        if (way == Way::Out) return call.kernels().copy_blocks(out, there, alone);
        call.kernels().copy_blocks(in, alone, there);
    }
};

GatedHeads gated_heads(const OperatorCall& call, const op::SplitHeads& roles, Of which,
                       const QueryKeyValue& parts) {
    const auto index = [&](op::Value value) {
        return which == Of::Values ? value.tensor : value.gradient;
    };
    const std::int64_t queries = roles.heads.query_columns();
    const std::int64_t columns = roles.heads.columns() + queries;
    return {call, roles.heads, call.tensor(index(roles.packed), {call.tokens(), columns}),
            call.tensor(index(*roles.gate), {call.tokens(), queries}), parts};
}

}  // namespace

void forward(const OperatorCall& call, const op::SplitHeads& roles) {
    const Heads heads = extents_of(call, roles.heads);
    const QueryKeyValue out = parts_of(call, roles.heads, Of::Values, heads);
    const Shape packed{heads.samples, heads.rows, roles.heads.columns()};
    if (roles.gate)
        gated_heads(call, roles, Of::Values, out).move(GatedHeads::Way::Out);
    else
        call.kernels().split_heads_forward(0, call.tensor(roles.packed.tensor, packed), out.q,
                                           out.kv.k, out.kv.v);
    if (roles.rotates) {
        rotate(call, heads, Direction::There, out.q, heads.queries);
        rotate(call, heads, Direction::There, out.kv.k, heads.keys);
    }
    if (call.state.tools.keys != nullptr) keep_keys(call, heads, out.kv);
}

void backward_input(const OperatorCall& call, const op::SplitHeads& roles) {
    const Heads heads = extents_of(call, roles.heads);
    const QueryKeyValue dout = parts_of(call, roles.heads, Of::Gradients, heads);
    if (roles.rotates) {
        rotate(call, heads, Direction::Back, dout.q, heads.queries);
        rotate(call, heads, Direction::Back, dout.kv.k, heads.keys);
    }
    if (roles.gate) return gated_heads(call, roles, Of::Gradients, dout).move(GatedHeads::Way::In);
    call.kernels().split_heads_backward_input(
        0, dout.q, dout.kv.k, dout.kv.v,
        call.tensor(roles.packed.gradient, {heads.samples, heads.rows, roles.heads.columns()}));
}

namespace {

/// The operands of latent attention's heads.
struct LatentCall {
    const OperatorCall& call;
    const op::LatentHeads& roles;
    const models::LatentAttention& latent = *call.attention().latent;
    Heads heads = extents_of(call, roles.heads);

    TensorView queries(int index) const { return call.tensor(index, heads.query_shape()); }
    TensorView keys_values(int index) const {
        return call.tensor(index, {heads.samples, heads.rows, heads.queries,
                                   heads.head_dim - latent.rope_dim + heads.value_dim});
    }
    /// The narrow value or its gradient, [Ts, key rank + r].
    TensorView narrow(int index) const {
        return call.tensor(index, {call.stream_tokens(), latent.key_rank + latent.rope_dim});
    }
    Shape shared_shape(std::int64_t columns) const { return {heads.samples, heads.rows, columns}; }
    /// The rotated columns of all tokens, [T, r], in planned memory.
    TensorView gathered(int index) const {
        return call.tensor(index, {call.tokens(), latent.rope_dim});
    }
    /// Between the rotated columns of a narrow value and [Ts, r].
    enum class Way { Out, In };
    void copy_rotated(Way way, const TensorView& narrow, const TensorView& alone) const {
        const std::int64_t width = latent.key_rank + latent.rope_dim;
        const std::int64_t out = way == Way::Out ? width : latent.rope_dim;
        const Blocks blocks{call.stream_tokens(), 1, latent.rope_dim, out,
                            width + latent.rope_dim - out};
        const TensorView columns{narrow.data + latent.key_rank * size_of(narrow.type),
                                 {1, latent.rope_dim},
                                 narrow.type};
        if (way == Way::Out)
            call.kernels().copy_blocks(blocks, columns, alone);
        else
            call.kernels().copy_blocks(blocks, alone, columns);
    }
    /// The tensor whose last columns are the rotated ones of every token.
    TensorView shared() const {
        const TensorView own = narrow(roles.rotated_keys.tensor);
        if (!roles.gathered) return own.reshaped(shared_shape(own.shape.columns()));
        const ArenaTensor mine = call.temporary({call.stream_tokens(), latent.rope_dim}, own.type);
        copy_rotated(Way::Out, own, mine.view());
        const TensorView all = gathered(*roles.gathered);
        call.all_gather(mine.view(), all);
        return all.reshaped(shared_shape(latent.rope_dim));
    }
    /// Adds up the ranks' parts [T, r] of the gradient of the rotated columns.
    void sum_shared(const TensorView& part) const {
        const TensorView own = narrow(roles.rotated_keys.gradient);
        if (!call.scattered()) {
            call.all_reduce(part);
            return copy_rotated(Way::In, own, part);
        }
        const ArenaTensor mine = call.temporary({call.stream_tokens(), latent.rope_dim}, own.type);
        call.reduce_scatter(part, mine.view());
        copy_rotated(Way::In, own, mine.view());
    }
    template <class Body>
    void each_stretch(const Body& body) const {
        const std::vector<std::int64_t> positions = call.stretches();
        for (std::int64_t i = 0; i < heads.stretches; ++i)
            body(positions[i], [&, i](const TensorView& x) { return of_stretch(x, heads, i); });
    }
};

}  // namespace

void forward(const OperatorCall& call, const op::LatentHeads& roles) {
    const LatentCall latent{call, roles};
    const QueryKeyValue out = parts_of(call, roles.heads, Of::Values, latent.heads);
    const TensorView queries = latent.queries(roles.queries.tensor);
    const TensorView pairs = latent.keys_values(roles.keys_values.tensor);
    const TensorView shared = latent.shared();
    const RotaryTable& table = call.rotary_table();
    latent.each_stretch([&](std::int64_t position, const auto& of) {
        call.kernels().latent_heads_forward(position, table.cosines.view(), table.sines.view(),
                                            of(queries), of(pairs), of(shared), of(out.q),
                                            of(out.kv.k), of(out.kv.v));
    });
    if (call.state.tools.keys != nullptr) keep_keys(call, latent.heads, out.kv);
}

void backward_input(const OperatorCall& call, const op::LatentHeads& roles) {
    const LatentCall latent{call, roles};
    const QueryKeyValue dout = parts_of(call, roles.heads, Of::Gradients, latent.heads);
    const TensorView dqueries = latent.queries(roles.queries.gradient);
    const TensorView dpairs = latent.keys_values(roles.keys_values.gradient);
    const TensorView part = roles.gathered_gradient ? latent.gathered(*roles.gathered_gradient)
                                                    : latent.narrow(roles.rotated_keys.gradient);
    const TensorView dshared = part.reshaped(latent.shared_shape(part.shape.columns()));
    const RotaryTable& table = call.rotary_table();
    latent.each_stretch([&](std::int64_t position, const auto& of) {
        call.kernels().latent_heads_backward_input(
            position, table.cosines.view(), table.sines.view(), of(dout.q), of(dout.kv.k),
            of(dout.kv.v), of(dqueries), of(dpairs), of(dshared));
    });
    if (roles.gathered_gradient) latent.sum_shared(part);
}

}  // namespace debubble::exec
