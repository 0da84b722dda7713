#pragma once

#include <cstdint>
#include <string_view>

/// 8-bit and 4-bit GEMMs: which ones, their memory traffic and the copies that are kept. Facts and
/// figures are TransformerEngine's at d0067d0 (docs/features/ low_precision_training,
/// docs/examples/gemm_profiling) and Megatron-LM's at d98e8a6 (transformer_config.py, fp8_utils.py,
/// param_and_grad_buffer.py).
namespace debubble::models {

/// The recipe by which the operands of products are scaled and rounded.
enum class Recipe : std::uint8_t {
    None,          ///< products are in the compute type
    Fp8Delayed,    ///< a scale per tensor, from the largest values of earlier steps
    Fp8Current,    ///< a scale per tensor, from its own largest value
    Fp8Blockwise,  ///< a scale per 1 x 128 values, of weights per 128 x 128 (DeepSeek-V3)
    Fp8Rowwise,    ///< a scale per row, from its own largest value (torchao)
    MxFp8,         ///< a scale of 8 bits per 32 values (OCP microscaling)
    NvFp4,         ///< 4 bits, a scale of 8 bits per 16 values and one per tensor
};

std::string_view name_of(Recipe recipe);  ///< "fp8-delayed"; "bf16" for none

/// The type of a product's operands, where it is not that of its result.
enum class Narrow : std::uint8_t { None, Fp8, Fp8Blockwise, MxFp8, NvFp4 };
Narrow operands_of(Recipe recipe);
/// Bytes of `elements` of that type with their scales, rounded up.
std::int64_t narrow_bytes(Narrow type, std::int64_t elements);

/// Bytes of `elements` of 12 bits (E5M6) with a scale of fp32 per 128 values, rounded up.
std::int64_t e5m6_bytes(std::int64_t elements);

/// Rows, inputs and outputs of a product by the recipe are multiples of this: each of them is the
/// dimension along which one of its three directions sums, in blocks of so many values or in steps
/// of 16 bytes (TransformerEngine d0067d0, assert_dim_for_fp8_exec in pytorch/utils.py and
/// make_empty of MXFP8 and NVFP4 tensors; torch._scaled_mm). Blocks of 128 may be cut short. 1
/// where products are in the compute type.
std::int64_t width_multiple(Recipe recipe);
/// The rows of every expert are padded to a multiple of this (Megatron-LM d98e8a6,
/// get_fp8_align_size and get_fp4_align_size).
std::int64_t expert_rows_multiple(Recipe recipe);

/// Layers [first, end).
struct WideLayers {
    int first = 0;
    int end = 0;
    bool contains(int layer) const { return first <= layer && layer < end; }
    friend bool operator==(const WideLayers&, const WideLayers&) = default;
};

/// The products of a network's layers in 8 or 4 bits. Embedding, head, router, norms and
/// recurrences are never among them, and their results are of the compute type.
struct LowPrecision {
    Recipe recipe = Recipe::None;
    bool attention = false;          ///< attention's products are in 8 bits, too
    bool narrow_parameters = false;  ///< parameters exist in the recipe's type alone
    /// The matrix units take 8-bit operands only along their rows, so that every tensor which is
    /// summed over its rows needs a transposed copy (Hopper); else one copy per tensor serves all
    /// products, where its scale does.
    bool transposes = true;
    /// Inputs are kept for the weight's gradient as the forward cast them, and the casts of weights
    /// are kept over microbatches (TransformerEngine); else inputs are kept in the compute type,
    /// and all casts are repeated (torchao).
    bool keeps_casts = true;
    /// The inputs of activation functions in a layer with experts are kept in the recipe's type,
    /// and the output of fused attention, which the GEMM after it also reads, in 12 bits
    /// (DeepSeek-V3, arXiv:2412.19437, 3.3.3); else both are kept in the compute type.
    bool narrow_activations = false;
    WideLayers wide_first;  ///< layers that stay in the compute type
    WideLayers wide_last;
    friend bool operator==(const LowPrecision&, const LowPrecision&) = default;

    bool quantises(int layer) const {
        return recipe != Recipe::None && !wide_first.contains(layer) && !wide_last.contains(layer);
    }
    bool narrows_activations(int layer) const { return narrow_activations && quantises(layer); }
};

/// The work on a tensor of the compute type before products can read it.
struct CastRule {
    Narrow type = Narrow::None;
    /// Its largest value is found by a pass of its own, before the cast.
    bool reads_twice = false;
    /// Copies of a tensor that products sum over its columns and over its rows: 2 where these are
    /// quantised apart, or one is the other's transpose.
    int copies = 1;
    /// The second copy is a transpose, which can be made of the first one later.
    bool second_is_transpose = false;
    /// The time of a cast relative to that of an average elementwise kernel for as many bytes.
    double pace = 1;
};
CastRule cast_rule(const LowPrecision& how);
/// The same of a pass that finds the largest value.
double amax_pace();

/// Bytes per parameter of a product that are held throughout, in addition to gradients and
/// optimizer: the parameter itself, of `wide` bytes where it exists in the compute type, and its
/// casts.
double weight_bytes(const LowPrecision& how, std::int64_t wide);
/// Bytes per parameter of a product that data-parallel ranks gather after a step. MXFP8 parameters
/// are gathered in bf16, and cast on every rank.
double gathered_weight_bytes(const LowPrecision& how, std::int64_t wide);
/// Bytes per parameter that casting it once per step reads and writes, times the slowdown of the
/// cast.
double weight_cast_bytes(const LowPrecision& how);

}  // namespace debubble::models
