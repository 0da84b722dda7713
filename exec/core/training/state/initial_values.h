#pragma once

#include <cstdint>
#include <span>

#include "exec/core/pieces/pieces.h"
#include "exec/core/random_stream.h"
#include "exec/core/tensor.h"
#include "models/graph/graph.h"

/// The initial weights, with Hugging Face's distributions. Every element is a function of its
/// parameter's stream and of its index in the whole tensor, so each rank makes only its own slice,
/// and every layout starts from the same network.
namespace debubble::exec {

/// The initial value of a parameter: normal elements with this deviation around 0 or, without a
/// deviation, all the same.
struct InitialValue {
    double deviation = 0;
    double constant = 0;
    friend bool operator==(const InitialValue&, const InitialValue&) = default;
};

/// * Weights and embeddings: deviation 0.02 (transformers' `initializer_range`). Its ViT
///   truncates them at +-2, a hundred deviations away; here nothing is truncated.
/// * GPT-2's projections into the residual stream (`c_proj`): 0.02 / sqrt(2 layers)
///   (transformers, GPT2PreTrainedModel._init_weights, after the GPT-2 paper, section 2.3).
/// * Biases 0, weights of norms 1.
InitialValue initial_value(const models::Architecture& architecture, models::Initial initial);

/// Fills the elements of these slices of a parameter in a rank's buffer, and no others. Each is a
/// function of the seed, the parameter's stored name and the element's index in the whole tensor.
void fill_initial(const InitialValue& value, const models::Parameter& parameter, std::uint64_t seed,
                  std::span<const Slice> slices, View<float> buffer);

// The initial weights. Every element is a function of its parameter's stream and of its index in
// the whole tensor, so each rank makes only its own slice, and every layout starts from the same
// network.

/// Fills `run` with elements first, first + 1, ... of a whole tensor whose elements are normally
/// distributed around zero (Box and Muller 1958; two from each pair of words). It is called once
/// per stretch of a slice that is contiguous in the whole tensor.
template <class T>
void fill_normal(const RandomStream& stream, double deviation, std::int64_t first, View<T> run);

}  // namespace debubble::exec
