#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/sharding.h"
#include "models/operators/value.h"

/// Products: those of layers, of patches, and of experts. See models/operators/op.h.
namespace debubble::models::op {

/// The tensors that a 8-bit or 4-bit GEMM reads instead of its operands, and those that are
/// gathered from. `rows` are summed over their columns, `columns` over their rows; one tensor may
/// be both.
struct NarrowCopies {
    int x_rows = 0;
    int x_columns = 0;   ///< kept for the weight's gradient, unless x itself is
    int y_gradient = 0;  ///< the tensor that is cast
    int y_gradient_rows = 0;
    int y_gradient_columns = 0;
    std::optional<int> gathered_rows = {};  ///< of the gradient of all ranks
    std::optional<int> gathered_columns = {};
    std::optional<int> x_again = {};       ///< cast in the backward, where x itself is kept
    std::optional<int> x_transposed = {};  ///< of the gathered x
    std::optional<int> y_gradient_transposed = {};  ///< of the gathered gradient
    std::optional<int> weight = {};                 ///< cast in the forward, where no cast is kept
    std::optional<int> weight_again = {};
    friend bool operator==(const NarrowCopies&, const NarrowCopies&) = default;
};

/// y [rows, outputs] = x [rows, inputs] W + bias, as tensor parallelism cuts it. The weights lie
/// side by side and are one matrix, and so do the biases.
struct Linear {
    int x = 0;
    std::optional<int> x_gradient;  ///< unset after raw input
    Value y;
    std::vector<int> weights;  ///< parameters
    std::vector<int> biases;   ///< parameters; may be empty
    std::int64_t rows = 1;
    std::int64_t inputs = 1;
    std::int64_t outputs = 1;
    Sharding sharding{};                 ///< cut of the product
    std::optional<int> x_gradient_part;  ///< [rows, inputs] before it is added to the gradient that
                                         ///< x has from another operator
    bool transposed = false;             ///< weights are stored [inputs, outputs]
    bool gathers_x = false;  ///< x is [rows / t, inputs] before sequence parallelism gathers it
    std::optional<int> gathered;        ///< x of all ranks in the forward; if unset, in a static
                                        ///< buffer
    std::optional<int> gathered_again;  ///< x of all ranks in the backward-weight; may be the
                                        ///< forward's, kept
    std::optional<int> x_gradient_partial;   ///< [rows, inputs] before it is scattered
    std::optional<int> partial;              ///< [rows, outputs] before y is scattered
    std::optional<int> y_gradient_gathered;  ///< [rows, outputs] gradient of all ranks
    std::optional<int> weight_gradient;      ///< set where it is made apart from the main gradient
    std::optional<NarrowCopies> narrow = {};

    bool cuts_outputs() const {
        return sharding == Sharding::Column || sharding == Sharding::Vocabulary;
    }
    bool cuts_inputs() const { return sharding == Sharding::Row; }
};

/// A convolution over patches, as a product over the pixels of each: x is cut out of the images.
struct PatchEmbedding {
    Linear product;
};

/// A product for each expert, over the rows that were sent to it, which are in the experts' order.
struct ExpertProducts {
    Value x;  ///< [rows of all experts, inputs]
    Value y;
    std::vector<int> weights;  ///< parameters, expert by expert
    std::vector<int> biases;   ///< parameters, expert by expert, each of a product's weights one;
                               ///< may be empty
    std::int64_t experts = 1;  ///< on this rank
    std::int64_t rows = 1;     ///< rows of all of them together, as planned: a router may send
                               ///< fewer
    std::int64_t inputs = 1;
    std::int64_t outputs = 1;  ///< outputs of one expert
    std::optional<int> weight_gradient;
    std::optional<NarrowCopies> narrow = {};
};

}  // namespace debubble::models::op
