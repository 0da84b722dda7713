#pragma once

#include <string>
#include <vector>

#include "exec/core/pieces/slice.h"
#include "models/architecture.h"
#include "models/graph.h"

/// How transformers stores the parameters of a network: most as tensors of their own, in the shape
/// that they have here, and some as parts of a tensor.
namespace debubble::exec {

struct StoredParameter {
    std::string
        tensor;        ///< canonical name of the stored tensor: the parameter's, if it has its own
    Dimensions shape;  ///< shape of the whole stored tensor
    /// Boxes that make up the parameter, each with its place in the stored tensor.
    std::vector<Slice> places;
    double minus = 0;  ///< the stored values are the parameter's minus this

    /// The stored tensor is the parameter as it is.
    bool own(const models::Parameter& parameter) const {
        return tensor == parameter.name && minus == 0;
    }
};

StoredParameter stored_parameter(const models::Architecture& architecture,
                                 const models::Parameter& parameter);

}  // namespace debubble::exec
