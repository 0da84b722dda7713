#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Boxes of a tensor's index space: what a rank has of a global tensor.
namespace debubble::exec {

using Extents = std::vector<std::int64_t>;  ///< outermost first

std::int64_t elements_of(const Extents& shape);
/// Elements between neighbours in each dimension of a row-major tensor.
Extents row_major_strides(const Extents& shape);

/// The elements [begin, begin + extent) in every dimension.
struct Box {
    Extents begin;
    Extents extent;
    friend bool operator==(const Box&, const Box&) = default;

    std::int64_t elements() const { return elements_of(extent); }
};

Box whole(const Extents& shape);
std::string text(const Extents& shape);  ///< "[50257, 768]"
std::string text(const Box& box);        ///< "[0:128, 64:96]"

/// What both have; nothing if that is empty. Both are boxes of one tensor.
std::optional<Box> intersection(const Box& a, const Box& b);
/// What `from` has and `taken` has not, as at most twice as many disjoint boxes as there
/// are dimensions.
std::vector<Box> difference(const Box& from, const Box& taken);

/// The elements [first, first + count) of the row-major tensor, as disjoint boxes in
/// order, each of them without a gap in memory: the rest of a row, whole rows, the start
/// of a row, and the same inside each of these rows; fewer than twice the dimensions.
std::vector<Box> boxes_of_range(const Extents& shape, std::int64_t first, std::int64_t count);

}  // namespace debubble::exec
