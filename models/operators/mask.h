#pragma once

#include <cstdint>
#include <variant>

#include "models/network/layer.h"

/// The mask of an attention: which keys a query attends to, and the one count of the pairs that it
/// leaves. All masks but the full one are causal: the queries are the last of the keys.
namespace debubble::models {

struct FullMask {
    friend bool operator==(const FullMask&, const FullMask&) = default;
};
struct CausalMask {
    friend bool operator==(const CausalMask&, const CausalMask&) = default;
};
/// A query attends to itself and the `keys` - 1 tokens before it.
struct WindowMask {
    std::int64_t keys = 1;
    friend bool operator==(const WindowMask&, const WindowMask&) = default;
};
/// A query attends to itself and to earlier tokens of its chunk of the sequence.
struct ChunkMask {
    std::int64_t tokens = 1;
    friend bool operator==(const ChunkMask&, const ChunkMask&) = default;
};
/// A query attends to the `keys` best of itself and the tokens before it.
struct TopKMask {
    std::int64_t keys = 1;
    friend bool operator==(const TopKMask&, const TopKMask&) = default;
};
using Mask = std::variant<FullMask, CausalMask, WindowMask, ChunkMask, TopKMask>;

/// The mask of an attention as published. The entries of compressed attention are not part of it.
Mask mask_of(const Attention& attention, bool causal);

/// How much of a causal query's pair with its own key counts. Kernels' rates are measured in FLOPs
/// of half of the square of causal attention, q k - q q / 2, which has half of its diagonal; FLOPs
/// that a network has to compute include all of it.
enum class Diagonal { Half, Whole };

/// Query-key pairs of one head of one sample.
double pairs(const Mask& mask, double queries, double keys, Diagonal diagonal);

/// The compressed entries that all tokens of a sequence attend to, in addition to their windows.
double entries_seen(const CompressedKeys& keys, double tokens);

}  // namespace debubble::models
