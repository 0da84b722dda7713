#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Boxes of a tensor's index space: the parts of a global tensor that ranks hold.
namespace debubble::exec {

/// A number for each dimension, outermost first: sizes, strides or an index.
using Dimensions = std::vector<std::int64_t>;

std::int64_t elements_of(const Dimensions& shape);
/// The distances, in elements, between neighbours in each dimension of a row-major tensor.
Dimensions row_major_strides(const Dimensions& shape);

/// The elements [begin, begin + extent) in every dimension.
struct Box {
    Dimensions begin;
    Dimensions extent;
    friend bool operator==(const Box&, const Box&) = default;

    std::int64_t elements() const { return elements_of(extent); }
};

Box whole(const Dimensions& shape);
std::string text(const Dimensions& shape);  ///< such as "[50257, 768]"
std::string text(const Box& box);           ///< such as "[0:128, 64:96]"

/// The common part of two boxes of one tensor; nothing if it is empty.
std::optional<Box> intersection(const Box& a, const Box& b);
/// The elements of `from` that `taken` does not have, as at most twice as many disjoint boxes as
/// there are dimensions.
std::vector<Box> difference(const Box& from, const Box& taken);

/// The elements [first, first + count) of the row-major tensor, as disjoint boxes in order, each
/// without a gap in memory: the rest of a row, whole rows, the start of a row, and the same inside
/// each of these rows. There are fewer boxes than twice the dimensions.
std::vector<Box> boxes_of_range(const Dimensions& shape, std::int64_t first, std::int64_t count);

}  // namespace debubble::exec
