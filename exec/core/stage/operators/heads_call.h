#pragma once

#include "exec/core/stage/operators/operator_call.h"

/// The sources of the keys and values that a pass's queries see, and the targets of their
/// gradients: the pass's own, those of earlier slices of the sequence, those of all ranks that
/// share it, or those that evaluations have kept. Private to the folder.
namespace debubble::exec {

/// Sizes of a rank's heads. Ranks that share a sequence have two stretches of it each, and every
/// one of their tensors has the samples of the first stretch before those of the second.
struct Heads {
    /// Every stretch counts as samples of its own.
    std::int64_t samples, rows, queries, keys, head_dim, value_dim;
    /// Rows that any query of the pass may see.
    std::int64_t all_rows;
    std::int64_t stretches;  ///< stretches of a sample

    Shape query_shape() const { return {samples, rows, queries, head_dim}; }
    Shape result_shape() const { return {samples, rows, queries, value_dim}; }
    Shape key_shape() const { return {samples, rows, keys, head_dim}; }
    Shape value_shape() const { return {samples, rows, keys, value_dim}; }
    Shape all_keys_shape() const { return {samples / stretches, all_rows, keys, head_dim}; }
    Shape all_values_shape() const { return {samples / stretches, all_rows, keys, value_dim}; }
    /// Elements of a row's keys and values.
    std::int64_t pair_columns() const { return keys * (head_dim + value_dim); }
};

struct KeysAndValues {
    TensorView k, v;
};

/// Keys and, after them, values, of these shapes.
inline KeysAndValues keys_and_values_at(std::byte* data, const Shape& keys, const Shape& values,
                                        DataType type) {
    const TensorView k{data, keys, type};
    return {k, {data + k.bytes(), values, type}};
}

/// The samples of one stretch, in a tensor [samples, ...] that has those of all.
inline TensorView of_stretch(const TensorView& all, const Heads& heads, std::int64_t stretch) {
    const Shape& whole = all.shape;
    const std::int64_t samples = whole[0] / heads.stretches;
    const Shape shape = whole.rank() == 3 ? Shape{samples, whole[1], whole[2]}
                                          : Shape{samples, whole[1], whole[2], whole[3]};
    return {all.data + stretch * (all.bytes() / heads.stretches), shape, all.type};
}

enum class KeyUse { Forward, Backward };

/// The keys and values that the queries of the pass see. `mine`: the pass's own.
KeysAndValues seen_keys(const OperatorCall& call, const op::Attention& roles, const Heads& heads,
                        const KeysAndValues& mine, KeyUse use);

/// The tensors to which the pass's queries add the gradients of all keys that they see: sums over
/// the slices, whose backward runs from the last to the first. Where ranks share the sequence, the
/// sums are empty at first.
KeysAndValues key_gradient_sums(const OperatorCall& call, const op::Attention& roles,
                                const Heads& heads, const KeysAndValues& mine);

/// Copies those sums, once they are complete on this rank, to the gradients `mine` of the pass's
/// own keys.
void hand_out_key_gradients(const OperatorCall& call, const op::Attention& roles,
                            const Heads& heads, const KeysAndValues& sums,
                            const KeysAndValues& mine);

/// Keeps keys and values for later evaluations (StageTools::keys).
void keep_keys(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine);

// Queries, keys and values as the operators around attention find them. They lie one after the
// other in the tensor that a split leaves, or next to each other in the packed projection; where
// the sequence is sliced, every slice has a tensor of its own for keys and values. Private to the
// folder.

Heads extents_of(const OperatorCall& call, const op::Heads& roles);

struct QueryKeyValue {
    TensorView q;
    KeysAndValues kv;
};

enum class Of { Values, Gradients };

/// Queries, keys and values, or their gradients, in their tensors.
QueryKeyValue parts_of(const OperatorCall& call, const op::Heads& roles, Of which,
                       const Heads& heads);

}  // namespace debubble::exec
