#include "exec/core/pieces/pieces.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace debubble::exec {
namespace {

/// Covers a flat range of the tensor, dimension by dimension from the outermost.
class RangeCover {
public:
    explicit RangeCover(const Dimensions& shape)
        : shape_(shape), strides_(row_major_strides(shape)), row_(whole(shape)) {}

    /// Covers [first, last) of the elements below `dimension`, whose place in the outer dimensions
    /// is row_.
    void cover(std::size_t dimension, std::int64_t first, std::int64_t last) {
        if (first == last) return;
        if (dimension == shape_.size()) {
            boxes.push_back(row_);
            return;
        }
        const std::int64_t stride = strides_[dimension];
        std::int64_t begin = first / stride;
        const std::int64_t end = last / stride;
        if (begin == end) return inside(dimension, begin, first % stride, last % stride);
        if (first % stride != 0) inside(dimension, begin++, first % stride, stride);
        if (begin < end) {
            at(dimension, begin, end - begin);
            boxes.push_back(row_);
            at(dimension, 0, shape_[dimension]);
        }
        inside(dimension, end, 0, last % stride);
    }

    std::vector<Box> boxes;

private:
    void at(std::size_t dimension, std::int64_t begin, std::int64_t extent) {
        row_.begin[dimension] = begin;
        row_.extent[dimension] = extent;
    }

    void inside(std::size_t dimension, std::int64_t index, std::int64_t first, std::int64_t last) {
        at(dimension, index, 1);
        cover(dimension + 1, first, last);
        at(dimension, 0, shape_[dimension]);
    }

    const Dimensions& shape_;
    Dimensions strides_;
    Box row_;
};

}  // namespace

std::int64_t elements_of(const Dimensions& shape) {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
}

Dimensions row_major_strides(const Dimensions& shape) {
    Dimensions strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    return strides;
}

Box whole(const Dimensions& shape) {
    return {Dimensions(shape.size(), 0), shape};
}

std::string text(const Dimensions& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string text(const Box& box) {
    std::vector<std::string> ranges;
    for (std::size_t d = 0; d < box.begin.size(); ++d)
        ranges.push_back(fmt::format("{}:{}", box.begin[d], box.begin[d] + box.extent[d]));
    return fmt::format("[{}]", fmt::join(ranges, ", "));
}

std::optional<Box> intersection(const Box& a, const Box& b) {
    DEBUBBLE_CHECK(a.begin.size() == b.begin.size(), "boxes of one tensor have its dimensions");
    Box common = a;
    for (std::size_t d = 0; d < a.begin.size(); ++d) {
        common.begin[d] = std::max(a.begin[d], b.begin[d]);
        const std::int64_t end = std::min(a.begin[d] + a.extent[d], b.begin[d] + b.extent[d]);
        common.extent[d] = end - common.begin[d];
        if (common.extent[d] <= 0) return std::nullopt;
    }
    return common;
}

std::vector<Box> difference(const Box& from, const Box& taken) {
    const std::optional<Box> common = intersection(from, taken);
    if (!common) return {from};
    std::vector<Box> rest;
    Box core = from;  // shrinks to the common box, cutting off what is before and after it
    for (std::size_t d = 0; d < from.begin.size(); ++d) {
        const std::int64_t end = core.begin[d] + core.extent[d];
        const std::int64_t common_end = common->begin[d] + common->extent[d];
        const auto shed = [&](std::int64_t begin, std::int64_t extent) {
            if (extent == 0) return;
            rest.push_back(core);
            rest.back().begin[d] = begin;
            rest.back().extent[d] = extent;
        };
        shed(core.begin[d], common->begin[d] - core.begin[d]);
        shed(common_end, end - common_end);
        core.begin[d] = common->begin[d];
        core.extent[d] = common->extent[d];
    }
    return rest;
}

std::vector<Box> boxes_of_range(const Dimensions& shape, std::int64_t first, std::int64_t count) {
    DEBUBBLE_CHECK(first >= 0 && count >= 0 && first + count <= elements_of(shape),
                   "a range inside");
    RangeCover range(shape);
    range.cover(0, first, first + count);
    return std::move(range.boxes);
}

}  // namespace debubble::exec
