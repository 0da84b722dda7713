#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "exec/core/kernels.h"

/// The back ends that compute on the processor: their names, what this build has of them, and how
/// their kernels are made.
namespace debubble::exec {

enum class CpuBackEnd : std::uint8_t { OneDnn, FixedOrder };

/// The back end that has this name: onednn, fixed-order (also called reference), or auto, which is
/// the fastest that this build has. Throws InputError for another name, and for onednn if this
/// build has no oneDNN.
CpuBackEnd cpu_back_end(std::string_view name);
std::string_view name_of(CpuBackEnd back_end);
/// The names to choose from: "auto, onednn or fixed-order".
std::string cpu_back_end_names();

/// Whether this build has oneDNN.
bool has_onednn();
std::string onednn_version();  ///< such as "2.6.3"; empty without oneDNN
/// The widest instructions that oneDNN uses in this process, in its own words ("avx512_core"): they
/// decide the bits of its GEMMs. They are the least of those that the processor has, that
/// ONEDNN_MAX_CPU_ISA allows, and that DEBUBBLE_VECTOR_UNIT allows: sse41 for baseline, avx2, or
/// avx512_core for avx512. Empty without oneDNN.
std::string onednn_instructions();

// The back ends that compute on the processor.

/// GEMMs by oneDNN, attention on blocks of GEMMs, everything else vectorised in blocks that stay in
/// the cache; on `threads` threads, including the caller's. bf16 is multiplied directly where the
/// processor has AVX512, else through fp32, as fp16 always is.
///
/// The same calls give the same bits in every run with the same number of threads on the same kind
/// of processor; with another number, or other instructions (onednn_instructions), sums are rounded
/// differently. The order in which a weight's gradient is summed depends on the number of rows: two
/// microbatches one after the other do not leave the bits of one that holds both. `threads` >= 1.
/// Throws InputError if this build has no oneDNN.
std::unique_ptr<Kernels> make_onednn_kernels(int threads);

/// Makes the kernels of the back end that has this name, of which only onednn uses more than one
/// thread. Throws InputError as cpu_back_end() does, or if there is no thread.
std::unique_ptr<Kernels> make_cpu_kernels(std::string_view name, int threads);
/// A function that makes the same kernels later.
inline KernelsMaker cpu_kernels_maker(std::string name, int threads) {
    return [name = std::move(name), threads] { return make_cpu_kernels(name, threads); };
}

/// The back end whose bits do not depend on how a batch is cut: a weight's gradient is summed row
/// by row, so two microbatches one after the other leave the bits of one that holds both (of 16-bit
/// gradients: only where each microbatch is one call's), and a row of an activation has the same
/// bits in every batch. It computes in the calling thread, with vector instructions over what is
/// not summed. docs/decisions/0024 says which tests rely on it.
std::unique_ptr<Kernels> make_fixed_order_kernels();

}  // namespace debubble::exec
