#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "exec/core/kernels.h"

/// The back ends that compute on the processor.
namespace debubble::exec {

/// Whether this build has oneDNN.
bool has_onednn();
std::string onednn_version();  ///< such as "2.6.3"; empty without oneDNN
/// The widest instructions that oneDNN uses in this process, in its own words ("avx512_core"): they
/// decide the bits of its products. They are the least of those that the processor has, that
/// ONEDNN_MAX_CPU_ISA allows, and that DEBUBBLE_VECTOR_UNIT allows: sse41 for baseline, avx2, or
/// avx512_core for avx512. Empty without oneDNN.
std::string onednn_instructions();

/// Matrix products by oneDNN, attention on blocks of it, everything else vectorised in blocks that
/// stay in the cache; on `threads` threads, the caller's among them. bf16 is multiplied directly
/// where the processor has AVX512, else through fp32, as fp16 always is.
///
/// The same calls give the same bits in every run with the same number of threads on the same kind
/// of processor; with another number, or other instructions (onednn_instructions), sums are rounded
/// otherwise. The order in which a weight's gradient is summed depends on the number of rows: two
/// microbatches one after the other do not leave the bits of one that holds both. `threads` >= 1.
/// Throws InputError if this build has no oneDNN.
std::unique_ptr<Kernels> make_onednn_kernels(int threads);

/// Whether kernels of this name are those of fixed order, which are also called reference.
inline bool is_fixed_order(std::string_view name) {
    return name == "fixed-order" || name == "reference";
}

/// Makes kernels by name: fixed-order, onednn, or auto, which is the fastest that this build has.
/// Only onednn uses more than one thread. Throws InputError for another name, or no thread.
std::unique_ptr<Kernels> make_cpu_kernels(std::string_view name, int threads);
/// A function that makes the same kernels later.
inline KernelsMaker cpu_kernels_maker(std::string name, int threads) {
    return [name = std::move(name), threads] { return make_cpu_kernels(name, threads); };
}

}  // namespace debubble::exec
