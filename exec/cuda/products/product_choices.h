#pragma once

#include <string>

#include "exec/core/device.h"
#include "exec/cuda/products/product_kind.h"

namespace debubble::exec::cuda {

/// How a library is to choose the algorithm of a product when it is first made.
struct ProductChoosing {
    int multiprocessors = 0;  ///< that products may count on; 0: all
    bool times = false;       ///< whether all proposals are tried, and the fastest is taken
    ProductChoices chosen;    ///< algorithms that are taken without trial
    ProductChoices timed;     ///< the fastest ones of those that were tried
};

/// The product in words, which differ wherever its kind does: sizes, types, layouts, alignments and
/// what is done with the result.
std::string words_of(const ProductKind& kind);

}  // namespace debubble::exec::cuda
