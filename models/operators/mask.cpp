#include "models/operators/mask.h"

#include <algorithm>
#include <cmath>

#include "base/overloaded.h"

namespace debubble::models {

namespace {

double as_real(std::int64_t count) {
    return static_cast<double>(count);
}

/// Pairs of the queries at positions [0, position), each with at most `most` keys up to its own, of
/// which `own` counts.
double pairs_before(double position, double most, double own) {
    const double growing = std::min(position, most);
    return growing * (growing - 1) / 2 + growing * own + (position - growing) * most;
}

double pairs_in_chunks(double position, double chunk, double own) {
    const double whole = std::floor(position / chunk);
    return whole * pairs_before(chunk, chunk, own) +
           pairs_before(position - whole * chunk, chunk, own);
}

}  // namespace

Mask mask_of(const Attention& attention, bool causal) {
    if (!causal) return FullMask{};
    if (attention.sparse) return TopKMask{attention.sparse->keys};
    if (attention.chunk) return ChunkMask{*attention.chunk};
    if (attention.window) return WindowMask{*attention.window};
    return CausalMask{};
}

double pairs(const Mask& mask, double queries, double keys, Diagonal diagonal) {
    const double own = diagonal == Diagonal::Half ? 0.5 : 1;
    const auto at_most = [&](double most) {
        return pairs_before(keys, most, own) - pairs_before(keys - queries, most, own);
    };
    return std::visit(Overloaded{
                          [&](const FullMask&) { return queries * keys; },
                          [&](const CausalMask&) { return at_most(keys); },
                          [&](const WindowMask& window) { return at_most(as_real(window.keys)); },
                          [&](const ChunkMask& chunk) {
                              const double tokens = as_real(chunk.tokens);
                              return pairs_in_chunks(keys, tokens, own) -
                                     pairs_in_chunks(keys - queries, tokens, own);
                          },
                          [&](const TopKMask& best) { return at_most(as_real(best.keys)); },
                      },
                      mask);
}

double entries_seen(const CompressedKeys& keys, double tokens) {
    if (!keys.ratio) return 0;
    const double ratio = as_real(*keys.ratio);
    const double most = keys.chosen ? as_real(*keys.chosen) : tokens;
    const double whole = std::floor(tokens / ratio);
    // `ratio` tokens have the same number of whole entries before them, except the last ones.
    const double full = std::min(whole, most + 1);
    double sum = ratio * full * (full - 1) / 2;
    if (whole > full) sum += ratio * (whole - full) * most;
    return sum + (tokens - whole * ratio + 1) * std::min(whole, most);
}

}  // namespace debubble::models
