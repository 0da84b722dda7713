#pragma once

#include <optional>
#include <vector>

#include "exec/core/pieces/box.h"
#include "models/execution/execution.h"
#include "models/graph/graph.h"

/// The elements of a global parameter that a rank holds, and their places in its memory.
namespace debubble::exec {

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

}  // namespace debubble::exec
