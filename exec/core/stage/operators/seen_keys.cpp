#include "exec/core/stage/operators/heads_call.h"

#include <utility>

#include "base/check.h"

namespace debubble::exec {

namespace {

/// The direction of a copy between keys or values in tensors of their own and the whole sequence.
enum class JoinDirection { Join, Part };

/// Stretches of a sequence, of several ranks or samples: the distances between the first elements
/// of neighbouring stretches in tensors of their own, and in `all`.
struct Line {
    std::int64_t count = 1;
    std::int64_t alone = 0;
    std::int64_t all = 0;
};

/// Moves [ranks, samples] stretches [rows, width]; `alone` and `all` are the first ones. There is
/// one call for each of the dimension with fewer.
void move(const OperatorCall& call, JoinDirection direction, Line ranks, Line samples,
          std::int64_t rows, std::int64_t width, const TensorView& alone, const TensorView& all) {
    if (ranks.count > samples.count) std::swap(ranks, samples);
    const std::int64_t element = size_of(alone.type);
    const bool joins = direction == JoinDirection::Join;
    const Blocks blocks{samples.count, rows, width, joins ? samples.alone : samples.all,
                        joins ? samples.all : samples.alone};
    for (std::int64_t i = 0; i < ranks.count; ++i) {
        const TensorView one{alone.data + i * ranks.alone * element, {rows, width}, alone.type};
        const TensorView there{all.data + i * ranks.all * element, {rows, width}, all.type};
        call.kernels().copy_blocks(blocks, joins ? one : there, joins ? there : one);
    }
}

/// Moves the same stretch of every sample, `first` rows into the sequences of `all`.
void move_rows(const OperatorCall& call, JoinDirection direction, const KeysAndValues& alone,
               const KeysAndValues& all, std::int64_t first) {
    for (const auto& [from, to] : {std::pair{alone.k, all.k}, std::pair{alone.v, all.v}}) {
        const Shape& each = from.shape;
        const std::int64_t width = each[2] * each[3];
        const Line samples{each[0], each[1] * width, to.shape[1] * width};
        const TensorView there{to.data + first * width * size_of(to.type), to.shape, to.type};
        move(call, direction, {}, samples, each[1], width, from, there);
    }
}

/// The keys and values of a slice up to this one, in `tensor`.
KeysAndValues of_slice(const OperatorCall& call, const Heads& heads, int slice, int tensor) {
    const TensorView memory = call.tensor_of_slice(
        slice, tensor, {heads.samples * heads.rows, heads.pair_columns()}, call.compute_type());
    return keys_and_values_at(memory.data, heads.key_shape(), heads.value_shape(), memory.type);
}

/// Moves between the tensors of the slices up to this one and `all`, in which they are contiguous.
void move_slices(const OperatorCall& call, const Heads& heads, int tensor, JoinDirection direction,
                 const KeysAndValues& all) {
    for (int slice = 0; slice <= call.slice; ++slice)
        move_rows(call, direction, of_slice(call, heads, slice, tensor), all, slice * heads.rows);
}

/// Planned scratch memory for the keys and values that any query of the pass sees.
KeysAndValues all_keys(const OperatorCall& call, const Heads& heads, int scratch) {
    const TensorView memory = call.tensor(
        scratch, {heads.samples / heads.stretches * heads.all_rows, heads.pair_columns()});
    return keys_and_values_at(memory.data, heads.all_keys_shape(), heads.all_values_shape(),
                              memory.type);
}

/// Moves between the parts of a slice that the ranks of the context group have, one after another
/// in `of_ranks`, and `all`, where keys and values have the order of the sequence.
void move_stretches(const OperatorCall& call, const Heads& heads, int slice,
                    const TensorView& of_ranks, JoinDirection direction, const KeysAndValues& all) {
    const KeysAndValues first =
        keys_and_values_at(of_ranks.data, heads.key_shape(), heads.value_shape(), of_ranks.type);
    const std::int64_t element = size_of(of_ranks.type);
    const std::int64_t chunk = heads.samples * heads.rows * heads.pair_columns();
    const std::vector<std::int64_t> of_first = call.stretches(slice, 0);
    const std::vector<std::int64_t> of_second = call.stretches(slice, 1);
    for (std::size_t i = 0; i < of_first.size(); ++i) {
        for (const auto& [from, to] : {std::pair{first.k, all.k}, std::pair{first.v, all.v}}) {
            const std::int64_t width = from.shape[2] * from.shape[3];
            const Line samples{heads.samples / heads.stretches, heads.rows * width,
                               heads.all_rows * width};
            const Line ranks{call.how().context, chunk, (of_second[i] - of_first[i]) * width};
            const TensorView there{to.data + of_first[i] * width * element, to.shape, to.type};
            move(call, direction, ranks, samples, heads.rows, width,
                 of_stretch(from, heads, static_cast<std::int64_t>(i)), there);
        }
    }
}

/// Keys and, after them, values, as a rank sends them.
TensorView chunk_of(const KeysAndValues& mine) {
    return {mine.k.data, {mine.k.shape.elements() + mine.v.shape.elements()}, mine.k.type};
}

/// Memory for the chunks of all ranks.
TensorView chunks(const OperatorCall& call, const KeysAndValues& mine, int scratch) {
    return call.tensor(scratch, {call.how().context, chunk_of(mine).shape.elements()});
}

/// Keys and values of all ranks of the context group.
KeysAndValues gathered(const OperatorCall& call, const op::Attention& roles, const Heads& heads,
                       const KeysAndValues& mine, KeyUse use) {
    const op::GatheredKeys& keys = *roles.gathered;
    const bool again = use == KeyUse::Backward;
    const TensorView there = chunks(call, mine, again ? keys.sent_again : keys.sent);
    const KeysAndValues all = all_keys(call, heads, again ? keys.joined_again : keys.joined);
    for (int slice = 0; slice <= call.slice; ++slice) {
        const bool own = slice == call.slice;
        call.gather_context(
            chunk_of(own ? mine : of_slice(call, heads, slice, roles.in.keys->tensor)), there);
        move_stretches(call, heads, slice, there, JoinDirection::Join, all);
    }
    return all;
}

/// The first rows of the keys and values that an evaluation keeps of its one sample.
KeysAndValues kept(const OperatorCall& call, const Heads& heads) {
    DEBUBBLE_CHECK(heads.samples == 1, "keys are kept of one sample");
    KeptKeys& kept = (*call.state.tools.keys)[call.op.layer.value_or(0)];
    if (!kept.keys) {
        const auto held = [&](std::int64_t width) {
            const Shape whole{1, call.how().seq_length, heads.keys, width};
            return call.state.tools.arena.allocate(whole, call.compute_type(),
                                                   MemoryClass::Activations, call.op.name);
        };
        kept.keys = held(heads.head_dim);
        kept.values = held(heads.value_dim);
    }
    return {{kept.keys.view().data, heads.all_keys_shape(), call.compute_type()},
            {kept.values.view().data, heads.all_values_shape(), call.compute_type()}};
}

/// Hands the sums over all ranks' queries to the slices up to this one; sums over the queries of
/// later slices are there already.
void scatter_gradients(const OperatorCall& call, const op::Attention& roles, const Heads& heads,
                       const KeysAndValues& sums, const KeysAndValues& mine) {
    const op::GatheredKeys& keys = *roles.gathered;
    const TensorView there = chunks(call, mine, keys.sent_again);
    for (int slice = 0; slice <= call.slice; ++slice) {
        const bool own = slice == call.slice;
        const TensorView total =
            chunk_of(own ? mine : of_slice(call, heads, slice, roles.in.keys->gradient));
        const TensorView term =
            keys.chunk_gradient ? call.tensor(*keys.chunk_gradient, total.shape) : total;
        move_stretches(call, heads, slice, there, JoinDirection::Part, sums);
        call.scatter_context(there, term);
        if (keys.chunk_gradient) call.kernels().add(term, total);
    }
}

}  // namespace

KeysAndValues seen_keys(const OperatorCall& call, const op::Attention& roles, const Heads& heads,
                        const KeysAndValues& mine, KeyUse use) {
    if (call.state.tools.keys != nullptr) return kept(call, heads);
    if (roles.gathered) return gathered(call, roles, heads, mine, use);
    if (!roles.seen) return mine;
    const bool again = use == KeyUse::Backward;
    const KeysAndValues all =
        all_keys(call, heads, again ? roles.seen->backward : roles.seen->forward);
    move_slices(call, heads, roles.in.keys->tensor, JoinDirection::Join, all);
    return all;
}

KeysAndValues key_gradient_sums(const OperatorCall& call, const op::Attention& roles,
                                const Heads& heads, const KeysAndValues& mine) {
    if (roles.gathered) return all_keys(call, heads, roles.gathered->joined_gradient);
    if (!roles.seen) return mine;
    const KeysAndValues all = all_keys(call, heads, roles.seen->gradient);
    if (call.slice + 1 == call.how().slices) {
        call.kernels().fill_zero(all.k);
        call.kernels().fill_zero(all.v);
    } else {
        move_slices(call, heads, roles.in.keys->gradient, JoinDirection::Join, all);
    }
    return all;
}

void hand_out_key_gradients(const OperatorCall& call, const op::Attention& roles,
                            const Heads& heads, const KeysAndValues& sums,
                            const KeysAndValues& mine) {
    if (roles.gathered)
        scatter_gradients(call, roles, heads, sums, mine);
    else if (roles.seen)
        move_slices(call, heads, roles.in.keys->gradient, JoinDirection::Part, sums);
}

void keep_keys(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine) {
    const KeysAndValues all = kept(call, heads);
    move_rows(call, JoinDirection::Join, mine, all, call.first_position());
}

}  // namespace debubble::exec
