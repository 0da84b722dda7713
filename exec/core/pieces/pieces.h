#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "exec/core/tensor.h"
#include "models/execution/execution.h"
#include "models/graph/graph.h"

/// The parts of global tensors that ranks hold, and that checkpoints store: boxes of an index
/// space, their places in a rank's memory (slices), and these with their data (pieces).
namespace debubble::exec {

// Boxes of a tensor's index space: the parts of a global tensor that ranks hold.

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

// The elements of a global parameter that a rank holds, and their places in its memory.

/// A box of a global tensor inside a buffer. Offset and strides count elements.
struct Slice {
    Box box;
    std::int64_t offset = 0;  ///< offset of the box's first element
    Dimensions strides;       ///< distances between neighbours in each dimension
    friend bool operator==(const Slice&, const Slice&) = default;
};

/// The shape of the row-major tensor that one of the ranks which cut a parameter stores of it: as
/// Hugging Face stores it, except for the cut dimension, which holds the rank's shares of the parts
/// one after another. It has parameter.elements_of_rank(execution) elements, so a cut vocabulary is
/// padded. Precondition: the parameter comes from a graph that build_stage made for this execution.
Dimensions local_shape(const models::Parameter& parameter, const models::Execution& execution);

/// A flat range of a rank's local tensor.
struct FlatRange {
    std::int64_t first = 0;
    std::int64_t count = 0;
    friend bool operator==(const FlatRange&, const FlatRange&) = default;
};

/// The elements of `range` of the local tensor of `cutting_rank` (the tensor-parallel rank, or of
/// an expert that among the ranks which cut it), in a buffer that starts with the range's first
/// element; without a range, the whole local tensor. The slices are disjoint. Rows that only pad
/// the vocabulary are in no slice.
std::vector<Slice> slices_of(const models::Parameter& parameter, const models::Execution& execution,
                             int cutting_rank, std::optional<FlatRange> range = {});

/// Copies the elements of `what`, a box inside both slices' boxes, from one buffer into
/// another of the same or another floating-point type, rounding to nearest even. `plus` is added to
/// every element before it is rounded, where -0 changes none, not even a zero's sign; if it is not
/// 0, both types are floating-point ones. Data may have any alignment. Precondition:
/// can_convert(from_type, to_type).
void copy_box(const Box& what, const Slice& from, DataType from_type, const std::byte* from_data,
              const Slice& to, DataType to_type, std::byte* to_data, double plus = -0.0);

bool can_convert(DataType from, DataType to);

/// The kinds of tensors that a checkpoint stores for a parameter. They are words in a file, so
/// others may be added.
namespace kinds {
/// In the form that the forward pass uses.
inline constexpr const char* kParameter = "parameter";
inline constexpr const char* kMain = "main";                   ///< main parameters in fp32
inline constexpr const char* kFirstMoment = "first_moment";    ///< Adam's m, SGD's momentum
inline constexpr const char* kSecondMoment = "second_moment";  ///< Adam's v
}  // namespace kinds

/// A box of a global tensor in a rank's memory, to be saved (Piece) or filled (WantedPiece).
template <class Byte>
struct BasicPiece {
    std::string kind;
    std::string tensor;  ///< canonical (Hugging Face) name of the parameter
    Dimensions shape;    ///< shape of the global tensor
    DataType type{};
    Slice slice;
    Byte* data = nullptr;  ///< address from which the slice's offset counts

    operator BasicPiece<const std::byte>() const requires(!std::is_const_v<Byte>) {
        return {kind, tensor, shape, type, slice, data};
    }
};
using Piece = BasicPiece<const std::byte>;
using WantedPiece = BasicPiece<std::byte>;

/// The name under which a parameter is stored: a copy of a tied one has the name of its original.
inline const std::string& stored_name(const models::Parameter& parameter) {
    return parameter.tied_to.empty() ? parameter.name : parameter.tied_to;
}

/// The pieces of a rank's local tensor, or of the flat range of it that starts at `data`.
template <class Byte>
std::vector<BasicPiece<Byte>> pieces_of(const models::Parameter& parameter,
                                        const models::Execution& execution, int cutting_rank,
                                        std::string kind, DataType type, Byte* data,
                                        std::optional<FlatRange> range = {}) {
    std::vector<BasicPiece<Byte>> pieces;
    for (Slice& slice : slices_of(parameter, execution, cutting_rank, range))
        pieces.push_back(
            {kind, stored_name(parameter), parameter.shape, type, std::move(slice), data});
    return pieces;
}

/// A whole buffer at `data`.
template <class Byte>
BasicPiece<Byte> piece_of(const models::Buffer& buffer, Byte* data) {
    return {kinds::kParameter,
            buffer.name,
            buffer.shape,
            DataType::Fp32,
            {whole(buffer.shape), 0, row_major_strides(buffer.shape)},
            data};
}

}  // namespace debubble::exec
