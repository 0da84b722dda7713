#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"

/// The order in which global ranks count the dimensions of a layout (Megatron-Core's RankGenerator,
/// parallel_state.py): with "tp-cp-ep-dp-pp" the ranks of a tensor group are neighbours, and those
/// of a pipeline are furthest apart; "tp-cp-ep-pp-dp" (--use-tp-pp-dp-mapping) has the replicas
/// furthest apart.
namespace debubble::scenarios {

enum class Dimension : std::uint8_t { Tensor, Context, Expert, Data, Pipeline };

class RankOrder {
public:
    /// "tp-cp-ep-dp-pp".
    constexpr RankOrder() = default;
    /// Nothing, unless the text has each of tp, cp, ep, dp and pp once, joined by '-', tp first:
    /// tensor-parallel ranks exchange with every layer, and no framework parts them.
    static std::optional<RankOrder> parse(std::string_view text);
    std::string text() const;

    std::span<const Dimension> inner_first() const { return inner_first_; }
    bool pipeline_is_outermost() const { return inner_first_.back() == Dimension::Pipeline; }
    friend bool operator==(const RankOrder&, const RankOrder&) = default;

private:
    std::array<Dimension, 5> inner_first_{Dimension::Tensor, Dimension::Context, Dimension::Expert,
                                          Dimension::Data, Dimension::Pipeline};
};

/// The sizes of a layout: of the ranks that hold layers alike, or of those that share
/// experts. A dimension that a layout does not have is 1.
using DimensionSizes = ArrayBy<Dimension, int, 5>;

/// The distance between neighbours of a dimension in global ranks.
int stride_of(Dimension dimension, const RankOrder& order, const DimensionSizes& sizes);

}  // namespace debubble::scenarios
