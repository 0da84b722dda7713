#include "exec/stage/seen_keys.h"

namespace debubble::exec {

namespace {

/// Rows of every sample of [samples, T, ...].
void copy_rows(const OperatorCall& call, ConstTensorView from, std::int64_t from_row, TensorView to,
               std::int64_t to_row, std::int64_t rows) {
    const std::int64_t width = from.shape[2] * from.shape[3];
    const std::int64_t row_bytes = width * size_of(from.type);
    for (std::int64_t sample = 0; sample < from.shape[0]; ++sample) {
        const std::int64_t source = sample * from.shape[1] + from_row;
        const std::int64_t target = sample * to.shape[1] + to_row;
        call.kernels().copy({from.data + source * row_bytes, {rows, width}, from.type},
                            {to.data + target * row_bytes, {rows, width}, to.type});
    }
}

/// Between rows that stand alone and their place in `all`.
enum class Direction { Join, Part };
void move_rows(const OperatorCall& call, Direction direction, const KeysAndValues& alone,
               const KeysAndValues& all, std::int64_t first) {
    const std::int64_t rows = alone.k.shape[1];
    if (direction == Direction::Join) {
        copy_rows(call, alone.k, 0, all.k, first, rows);
        copy_rows(call, alone.v, 0, all.v, first, rows);
    } else {
        copy_rows(call, all.k, first, alone.k, 0, rows);
        copy_rows(call, all.v, first, alone.v, 0, rows);
    }
}

/// What a slice up to this one has in `tensor`.
KeysAndValues of_slice(const OperatorCall& call, const Heads& heads, int slice, int tensor) {
    const TensorView memory = call.tensor_of_slice(
        slice, tensor, {2, heads.samples * heads.rows, heads.keys, heads.head_dim});
    return keys_and_values_at(memory.data, heads.key_shape(), memory.type);
}

/// Between the tensors of the slices up to this one and `all`, in which they lie side by side.
void move_slices(const OperatorCall& call, const Heads& heads, int tensor, Direction direction,
                 const KeysAndValues& all) {
    for (int slice = 0; slice <= call.slice; ++slice)
        move_rows(call, direction, of_slice(call, heads, slice, tensor), all, slice * heads.rows);
}

/// Scratch of the plan for the keys and values that any query of the pass sees.
KeysAndValues all_keys(const OperatorCall& call, const Heads& heads, int scratch) {
    Shape both = heads.all_keys_shape();
    both = {2 * both[0], both[1], both[2], both[3]};
    const TensorView memory = call.tensor(scratch, both);
    return keys_and_values_at(memory.data, heads.all_keys_shape(), memory.type);
}

/// Between what the ranks of the context group have of a slice, one behind the other in
/// `of_ranks`, and `all`, where keys and values stand in the order of the sequence.
void move_stretches(const OperatorCall& call, const Heads& heads, int slice,
                    const TensorView& of_ranks, Direction direction, const KeysAndValues& all) {
    std::byte* data = of_ranks.data;
    for (int rank = 0; rank < call.how().context; ++rank) {
        const KeysAndValues theirs = keys_and_values_at(data, heads.key_shape(), of_ranks.type);
        data += 2 * theirs.k.bytes();
        const std::vector<std::int64_t> positions = call.stretches(slice, rank);
        for (std::int64_t i = 0; i < heads.stretches; ++i)
            move_rows(call, direction,
                      {of_stretch(theirs.k, heads, i), of_stretch(theirs.v, heads, i)}, all,
                      positions[static_cast<std::size_t>(i)]);
    }
}

/// Keys and behind them values, as a rank sends them.
TensorView chunk_of(const KeysAndValues& mine) {
    return {mine.k.data, {2, mine.k.shape.elements()}, mine.k.type};
}

/// Room for the chunks of all ranks.
TensorView chunks(const OperatorCall& call, const KeysAndValues& mine, int scratch) {
    return call.tensor(scratch, {call.how().context, 2 * mine.k.shape.elements()});
}

/// Keys and values of all ranks of the context group.
KeysAndValues gathered(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine,
                       const std::vector<int>& uses, bool backward) {
    const TensorView there =
        chunks(call, mine, call.named(uses, backward ? ".kv.regathered" : ".kv.gathered"));
    const KeysAndValues all =
        all_keys(call, heads, call.named(uses, backward ? ".kv.rejoined" : ".kv.joined"));
    for (int slice = 0; slice <= call.slice; ++slice) {
        const bool own = slice == call.slice;
        call.gather_context(chunk_of(own ? mine : of_slice(call, heads, slice, call.op.keys)),
                            there);
        move_stretches(call, heads, slice, there, Direction::Join, all);
    }
    return all;
}

/// The first rows of what an evaluation keeps of its one sample.
KeysAndValues kept(const OperatorCall& call, const Heads& heads, const Shape& shape) {
    assert(heads.samples == 1 && "keys are kept of one sample");
    KeptKeys& kept = (*call.state.tools.keys)[call.op.layer.value_or(0)];
    if (!kept.keys) {
        const Shape whole{1, call.how().seq_length, heads.keys, heads.head_dim};
        const auto held = [&] {
            return call.state.tools.arena.allocate(whole, call.compute_type(),
                                                   MemoryClass::Activations, call.op.name);
        };
        kept.keys = held();
        kept.values = held();
    }
    return {{kept.keys.view().data, shape, call.compute_type()},
            {kept.values.view().data, shape, call.compute_type()}};
}

/// The sums over all ranks' queries, to those of the slices up to this one; sums over the queries
/// of later slices are there already.
void scatter_gradients(const OperatorCall& call, const Heads& heads, const KeysAndValues& sums,
                       const KeysAndValues& mine) {
    const std::vector<int>& uses = call.op.backward_input_uses;
    const TensorView there = chunks(call, mine, call.named(uses, ".kv.regathered"));
    const bool adds = call.slice + 1 < call.how().slices;
    for (int slice = 0; slice <= call.slice; ++slice) {
        const bool own = slice == call.slice;
        const TensorView total =
            chunk_of(own ? mine : of_slice(call, heads, slice, call.op.key_gradient));
        const TensorView term =
            adds ? call.tensor(call.named(uses, ".kv.chunk"), total.shape) : total;
        move_stretches(call, heads, slice, there, Direction::Part, sums);
        call.scatter_context(there, term);
        if (adds) call.kernels().add(term, total);
    }
}

}  // namespace

KeysAndValues seen_keys(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine,
                        KeyUse use) {
    if (call.state.tools.keys != nullptr) return kept(call, heads, heads.all_keys_shape());
    const bool backward = use == KeyUse::Backward;
    const std::vector<int>& uses = backward ? call.op.backward_input_uses : call.op.forward_uses;
    if (call.how().context > 1) return gathered(call, heads, mine, uses, backward);
    if (call.slice == 0) return mine;
    const KeysAndValues all =
        all_keys(call, heads, call.named(uses, backward ? ".keys.seen.again" : ".keys.seen"));
    move_slices(call, heads, call.op.keys, Direction::Join, all);
    return all;
}

KeysAndValues key_gradient_sums(const OperatorCall& call, const Heads& heads,
                                const KeysAndValues& mine) {
    const bool shared = call.how().context > 1;
    if (call.slice == 0 && !shared) return mine;
    const int scratch =
        call.named(call.op.backward_input_uses, shared ? ".kv.joined" : ".keys.seen");
    const KeysAndValues all = all_keys(call, heads, scratch);
    if (shared || call.slice + 1 == call.how().slices) {
        call.kernels().fill_zero(all.k);
        call.kernels().fill_zero(all.v);
    } else {
        move_slices(call, heads, call.op.key_gradient, Direction::Join, all);
    }
    return all;
}

void hand_out_key_gradients(const OperatorCall& call, const Heads& heads, const KeysAndValues& sums,
                            const KeysAndValues& mine) {
    if (call.how().context > 1) {
        scatter_gradients(call, heads, sums, mine);
    } else if (call.slice > 0) {
        move_slices(call, heads, call.op.key_gradient, Direction::Part, sums);
    }
}

void keep_keys(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine) {
    const KeysAndValues all = kept(call, heads, heads.all_keys_shape());
    move_rows(call, Direction::Join, mine, all, call.first_position());
}

}  // namespace debubble::exec
