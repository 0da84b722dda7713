#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "exec/core/kernels.h"
#include "exec/cpu/back_end.h"

/// The back ends that compute on the processor.
namespace debubble::exec {

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

/// Makes the kernels of the back end that has this name, of which only onednn uses more than one
/// thread. Throws InputError as cpu_back_end() does, or if there is no thread.
std::unique_ptr<Kernels> make_cpu_kernels(std::string_view name, int threads);
/// A function that makes the same kernels later.
inline KernelsMaker cpu_kernels_maker(std::string name, int threads) {
    return [name = std::move(name), threads] { return make_cpu_kernels(name, threads); };
}

}  // namespace debubble::exec
