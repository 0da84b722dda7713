#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "exec/core/random_stream.h"
#include "scenarios/run_options.h"

/// The options of operators besides their operands, the same for all devices.
namespace debubble::exec {

enum class Write : std::uint8_t { Overwrite, Add };

/// How a weight is stored: as in Hugging Face's Linear (Llama, ViT), or in its Conv1D (GPT-2).
enum class WeightLayout : std::uint8_t { OutputsInputs, InputsOutputs };

/// Gelu is x * Phi(x) (Hendrycks and Gimpel 2016); GeluTanh its approximation there,
/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), which GPT-2 uses.
enum class Nonlinearity : std::uint8_t { Gelu, GeluTanh, Relu };

/// The place of the local [samples, rows, columns] within the activation of the step.
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

/// Blocks of `rows` rows that lie side by side; a stride is the distance between the first elements
/// of neighbouring blocks.
struct Blocks {
    std::int64_t count = 1;
    std::int64_t rows = 1;
    std::int64_t width = 1;
    std::int64_t from_stride = 0;  ///< elements; may be negative
    std::int64_t to_stride = 0;
};

struct Dropout {
    double probability = 0;  ///< probability of being dropped, in [0, 1)
    RandomStream stream;

    /// An element survives if its word is at least this.
    std::uint32_t threshold() const {
        return static_cast<std::uint32_t>(probability * 4294967296.0);
    }
    /// Factor of the surviving elements.
    double scale() const { return 1.0 / (1.0 - probability); }
};

struct AttentionDropout {
    Dropout dropout;
    std::int64_t all_heads = 0;      ///< heads of the layer, over all tensor-parallel ranks
    std::int64_t all_positions = 0;  ///< positions of the sequence
    std::int64_t first_sample = 0;
    std::int64_t first_head = 0;
};

struct Attention {
    bool causal = true;
    std::int64_t first_query = 0;
    double scale = 1;  ///< factor of the scores: 1 / sqrt(head_dim)
    std::optional<AttentionDropout> dropout = {};
    Write key_gradients = Write::Add;  ///< for dk and dv, which slices of a sequence sum up
    /// The stride in elements between rows of q, k, v and of their gradients, where those are parts
    /// of one packed [samples, rows, query width + 2 key width]; 0: each is contiguous.
    std::int64_t packed_row = 0;
};

struct CrossEntropy {
    std::int64_t first_entry = 0;  ///< vocabulary entry in column 0 of the logits
    std::int32_t ignore_index = -100;
    /// The factor of a token's gradient: the loss scale divided by the number of targets of the
    /// global batch that count.
    double gradient_scale = 1;
    /// The number of columns of the logits that are entries; the rest pad the vocabulary and count
    /// as -inf.
    std::int64_t entries = std::numeric_limits<std::int64_t>::max();
};

using scenarios::AdamOptions;
using scenarios::SgdOptions;

}  // namespace debubble::exec
