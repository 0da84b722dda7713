#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "exec/core/random_stream.h"
#include "scenarios/run_options.h"

/// What an operator must know beside its operands, whatever device computes it.
namespace debubble::exec {

enum class Write : std::uint8_t { Overwrite, Add };

/// How a weight is stored: Hugging Face's Linear (Llama, ViT), or its Conv1D (GPT-2).
enum class WeightLayout : std::uint8_t { OutputsInputs, InputsOutputs };

/// Gelu is x * Phi(x) (Hendrycks and Gimpel 2016); GeluTanh its approximation there,
/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), which GPT-2 uses.
enum class Nonlinearity : std::uint8_t { Gelu, GeluTanh, Relu };

/// Where the local [samples, rows, columns] lie within the activation of the step.
struct Window {
    std::int64_t all_rows = 0;     ///< positions of a whole sample
    std::int64_t all_columns = 0;  ///< whole width
    std::int64_t first_sample = 0;
    std::int64_t first_row = 0;
    std::int64_t first_column = 0;

    std::uint64_t element(std::int64_t sample, std::int64_t row, std::int64_t column) const {
        return static_cast<std::uint64_t>(((first_sample + sample) * all_rows + first_row + row) *
                                              all_columns +
                                          first_column + column);
    }
};

/// Blocks of `rows` rows that lie side by side; the first elements of one and the next are so far
/// apart.
struct Blocks {
    std::int64_t count = 1;
    std::int64_t rows = 1;
    std::int64_t width = 1;
    std::int64_t from_stride = 0;  ///< elements; may be negative
    std::int64_t to_stride = 0;
};

struct Dropout {
    double probability = 0;  ///< of being dropped, in [0, 1)
    RandomStream stream;

    /// An element survives if its word is at least this.
    std::uint32_t threshold() const {
        return static_cast<std::uint32_t>(probability * 4294967296.0);
    }
    double scale() const { return 1.0 / (1.0 - probability); }  ///< of what survives
};

struct AttentionDropout {
    Dropout dropout;
    std::int64_t all_heads = 0;      ///< of the layer, over all tensor-parallel ranks
    std::int64_t all_positions = 0;  ///< of the sequence
    std::int64_t first_sample = 0;
    std::int64_t first_head = 0;
};

struct Attention {
    bool causal = true;
    std::int64_t first_query = 0;
    double scale = 1;  ///< of the scores: 1 / sqrt(head_dim)
    std::optional<AttentionDropout> dropout = {};
    Write key_gradients = Write::Add;  ///< into dk and dv, which slices of a sequence sum up
    /// Elements from a row of q, k, v and of their gradients to the next, where those are parts of
    /// one packed [samples, rows, query width + 2 key width]; 0: each lies by itself.
    std::int64_t packed_row = 0;
};

struct CrossEntropy {
    std::int64_t first_entry = 0;  ///< of the vocabulary, in column 0 of the logits
    std::int32_t ignore_index = -100;
    /// What a token's gradient is multiplied by: 1 / the targets of the global batch that
    /// count, times the loss scale.
    double gradient_scale = 1;
    /// Columns of the logits that are entries; the rest pad the vocabulary and count as -inf.
    std::int64_t entries = std::numeric_limits<std::int64_t>::max();
};

using scenarios::AdamOptions;
using scenarios::SgdOptions;

}  // namespace debubble::exec
