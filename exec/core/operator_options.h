#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "exec/core/random_stream.h"
#include "scenarios/plan/run_options.h"

/// The options of operators besides their operands, the same for all devices.
namespace debubble::exec {

enum class Write : std::uint8_t { Overwrite, Add };

/// How a weight is stored: as in Hugging Face's Linear (Llama, ViT), or in its Conv1D (GPT-2).
enum class WeightLayout : std::uint8_t { OutputsInputs, InputsOutputs };

/// Gelu is x * Phi(x) (Hendrycks and Gimpel 2016); GeluTanh its approximation there,
/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), which GPT-2 uses. SquaredRelu is max(x, 0)^2
/// (So et al. 2021).
enum class Nonlinearity : std::uint8_t { Gelu, GeluTanh, Relu, SquaredRelu };

/// The function of the gate in a gated linear unit (Shazeer 2020): x * sigmoid(x) of SwiGLU, one of
/// the two forms of GELU, or gpt-oss's.
enum class Gate : std::uint8_t {
    Silu,
    Gelu,
    GeluTanh,
    /// gpt-oss's: with g at most kGateLimit and u from -kGateLimit to kGateLimit,
    /// g sigmoid(kGateSlope g) (u + 1).
    ClampedSilu,
};
inline constexpr double kGateLimit = 7;
inline constexpr double kGateSlope = 1.702;

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

/// Blocks of `rows` contiguous rows; a stride is the distance between the first elements
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

/// Columns that rotary positions turn by one angle (Su et al. 2021): of r rotated columns, i and
/// i + r / 2 in Hugging Face's "rotate half", or 2 i and 2 i + 1 as in the paper and DeepSeek.
enum class RotaryPairs : std::uint8_t { Halves, Neighbours };

/// The part of a tensor [samples, rows, heads, head_dim] that is rotated: of its first `heads`
/// heads as many columns from `first_column` on as the tables have angles for.
struct Rotary {
    std::int64_t first_position = 0;  ///< position of row 0
    std::int64_t heads = 0;
    std::int64_t first_column = 0;
    RotaryPairs pairs = RotaryPairs::Halves;
};

/// Scores decrease with the distance from the query back to the key, times a slope of the head
/// (ALiBi, Press et al. 2022, arXiv:2108.12409): of n heads, a power of two, the i-th has 2^(-8 i /
/// n), with i from 1. Of other numbers, the heads have those of every other one of the next
/// power's, the even i first, as transformers' and llm-foundry's MPT has it.
struct Alibi {
    std::int64_t all_heads = 1;   ///< heads of the layer, over all tensor-parallel ranks
    std::int64_t first_head = 0;  ///< of this rank

    double slope(std::int64_t head) const {
        std::int64_t power = 1;
        while (power < all_heads) power *= 2;
        const std::int64_t at = first_head + head, half = power / 2;
        const std::int64_t number = power == all_heads ? at + 1
                                    : at < half        ? 2 * at + 2
                                                       : 2 * (at - half) + 1;
        return std::exp2(-8 * static_cast<double>(number) / static_cast<double>(power));
    }
};

struct Attention {
    bool causal = true;
    std::int64_t first_query = 0;
    double scale = 1;  ///< factor of the scores: 1 / sqrt(head_dim)
    std::optional<AttentionDropout> dropout = {};
    Write key_gradients = Write::Add;  ///< for dk and dv, which slices of a sequence sum up
    /// The stride in elements between rows of q, k, v and of their gradients, where those are parts
    /// of one packed [samples, rows, query width + 2 key width]; unset: each is contiguous.
    std::optional<std::int64_t> packed_row = {};
    /// A query of a causal attention sees itself and the window - 1 keys before it; unset: all
    /// before it.
    std::optional<std::int64_t> window = {};
    /// It sees keys of its own chunk of this many positions; unset: the sequence is one chunk.
    std::optional<std::int64_t> chunk = {};
    /// Scaled scores s become soft_cap * tanh(s / soft_cap) (Gemma 2, arXiv:2408.00118, 2), if set.
    std::optional<double> soft_cap = {};
    std::optional<Alibi> alibi = {};  ///< of a causal attention
};

/// Queries at position p are multiplied by 1 + scale log(1 + floor((p + 1) / floor)) (Llama 4).
struct QueryGrowth {
    double floor = 1;
    double scale = 0;
    std::int64_t first_position = 0;  ///< position of row 0
    std::int64_t heads = 0;           ///< the first heads of the tensor are those of queries

    double factor(std::int64_t position) const {
        return 1 + scale * std::log(1 + std::floor(static_cast<double>(position + 1) / floor));
    }
};

/// Heads that are normalised: a run of them in each row of a packed tensor [tokens, columns].
struct HeadRun {
    std::int64_t first_column = 0;
    std::int64_t first_head = 0;  ///< its place among the heads that have statistics
    std::int64_t heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t gap =
        0;  ///< columns of something else after each head, such as those of an output gate
    std::int64_t gaps_before = 0;  ///< such columns before the run

    std::int64_t column(std::int64_t head) const { return first_column + head * (head_dim + gap); }
    /// The same in a tensor that has these heads alone.
    std::int64_t kept_column(std::int64_t head) const {
        return first_column - gaps_before + head * head_dim;
    }
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

/// A rectangle of a matrix whose elements lie in a flat tensor too: element [r, c] of it is element
/// first + r row_stride + c column_stride there, and first_in_whole + r whole_row + c of the
/// matrix.
struct MatrixSlice {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t first = 0;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 1;
    std::int64_t first_in_whole = 0;
    std::int64_t whole_row = 0;  ///< columns of the matrix
};

struct MuonMomentum {
    double momentum = 0;
    bool nesterov = false;
    double gradient_factor = 1;  ///< undoes loss scaling and clips
};

using scenarios::AdamOptions;
using scenarios::SgdOptions;

}  // namespace debubble::exec
