#pragma once

#include <optional>
#include <vector>

#include "exec/core/pieces/box.h"
#include "models/execution.h"
#include "models/graph.h"

/// Which elements of a global parameter a rank holds, and where in its memory they lie.
namespace debubble::exec {

/// A box of a global tensor inside a buffer. Offset and strides count elements.
struct Slice {
    Box box;
    std::int64_t offset = 0;  ///< of the box's first element
    Extents strides;          ///< between neighbours of each dimension
    friend bool operator==(const Slice&, const Slice&) = default;
};

/// The row-major tensor that a tensor-parallel rank stores of a parameter: as Hugging
/// Face stores it, but for the cut dimension, which is the rank's shares of the parts one
/// behind another. Its elements are parameter.elements_of_rank(execution), so a cut
/// vocabulary is padded. Precondition: the parameter comes from a graph that build_stage
/// made for this execution.
Extents local_shape(const models::Parameter& parameter, const models::Execution& execution);

/// A flat range of a rank's local tensor.
struct FlatRange {
    std::int64_t first = 0;
    std::int64_t count = 0;
    friend bool operator==(const FlatRange&, const FlatRange&) = default;
};

/// The elements of `range` of the local tensor of `tensor_rank`, in a buffer that begins
/// with the range's first. Without a range: the whole local tensor. Rows that only pad the
/// vocabulary are in no slice. Disjoint.
std::vector<Slice> slices_of(const models::Parameter& parameter, const models::Execution& execution,
                             int tensor_rank, std::optional<FlatRange> range = {});

}  // namespace debubble::exec
