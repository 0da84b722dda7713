#pragma once

#include "exec/core/stage/operator_call.h"

/// Where the keys and values that a pass's queries see come from, and where their gradients go:
/// the pass's own, those of earlier slices of the sequence, those of all ranks that share it, or
/// what evaluations have kept. Private to the folder.
namespace debubble::exec {

/// Extents of a rank's heads. Where ranks share a sequence each has two stretches of it, and every
/// one of its tensors the samples of the first before those of the second.
struct Heads {
    std::int64_t samples, rows, queries, keys, head_dim;  ///< stretches are samples of their own
    std::int64_t all_rows;                                ///< that any query of the pass may see
    std::int64_t stretches;                               ///< of a sample

    Shape query_shape() const { return {samples, rows, queries, head_dim}; }
    Shape key_shape() const { return {samples, rows, keys, head_dim}; }
    Shape all_keys_shape() const { return {samples / stretches, all_rows, keys, head_dim}; }
};

struct KeysAndValues {
    TensorView k, v;
};

/// Keys and behind them values, of this shape each.
inline KeysAndValues keys_and_values_at(std::byte* data, const Shape& each, DataType type) {
    const TensorView k{data, each, type};
    return {k, {data + k.bytes(), each, type}};
}

/// The samples of one stretch, of a tensor [samples, ...] that has those of all.
inline TensorView of_stretch(const TensorView& all, const Heads& heads, std::int64_t stretch) {
    const Shape& whole = all.shape;
    const std::int64_t samples = whole[0] / heads.stretches;
    const Shape shape = whole.rank() == 3 ? Shape{samples, whole[1], whole[2]}
                                          : Shape{samples, whole[1], whole[2], whole[3]};
    return {all.data + stretch * (all.bytes() / heads.stretches), shape, all.type};
}

enum class KeyUse { Forward, Backward };

/// What the queries of the pass see. `mine`: the pass's own.
KeysAndValues seen_keys(const OperatorCall& call, const op::Attention& roles, const Heads& heads,
                        const KeysAndValues& mine, KeyUse use);

/// What the pass's queries add the gradients of all keys that they see to: sums over the slices,
/// whose backward comes last one first; where ranks share the sequence there is nothing yet.
KeysAndValues key_gradient_sums(const OperatorCall& call, const op::Attention& roles,
                                const Heads& heads, const KeysAndValues& mine);

/// From those sums, complete on this rank, to the gradients `mine` of the pass's own keys.
void hand_out_key_gradients(const OperatorCall& call, const op::Attention& roles,
                            const Heads& heads, const KeysAndValues& sums,
                            const KeysAndValues& mine);

/// For later evaluations (StageTools::keys).
void keep_keys(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine);

}  // namespace debubble::exec
