#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace debubble {

/// A small integer that cannot be mixed up with another kind of small integer.
/// `Tag` is never defined; it only makes the types differ.
template <class Tag>
struct Id {
    std::int32_t index = 0;
    friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using Rank = Id<struct RankTag>;    ///< one pipeline rank, 0..p-1; never a global rank
using Stage = Id<struct StageTag>;  ///< one virtual stage of the model, 0..S-1

/// One microbatch of the global batch, or one slice of its sequence (Seq1F1B).
struct MicroBatch {
    std::int32_t index = 0;
    std::optional<std::int16_t> slice;
    friend constexpr auto operator<=>(const MicroBatch&, const MicroBatch&) = default;
};

}  // namespace debubble
