#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "exec/core/pieces/slice.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// The kinds of tensors that a checkpoint keeps of a parameter. These are words in a file, so
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
