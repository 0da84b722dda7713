#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "models/operators/kernel.h"
#include "text/mapping_reader.h"

/// Kernels that were measured one by one on a GPU (`cluster.gpu.kernels`).
namespace debubble::scenarios {

template <class Work>
struct MeasuredKernel {
    Work work;
    double seconds = 0;  ///< of one run, launches not included
};

/// A product or an attention; nothing for other kernels.
using KernelWork = std::variant<std::monostate, models::Gemm, models::FlashAttention>;

/// The kernel of a map with `kernel`, `dtype` and `shape`.
KernelWork read_kernel_work(text::MappingReader& in);

struct KernelTable {
    std::vector<MeasuredKernel<models::Gemm>> products;  ///< and grouped ones
    std::vector<MeasuredKernel<models::FlashAttention>> attentions;
    /// The times are of short windows, in which power does not limit the clock; else they are those
    /// that steps have.
    bool burst = false;
    friend bool operator==(const KernelTable&, const KernelTable&) = default;
};

/// Reads a line of JSON for each kernel, as bench/measure_kernels.py and calibrate --from-trace
/// write it: `kernel` (gemm, grouped_gemm, attention_forward, attention_backward; others are passed
/// over), `shape` as sim/plan/plan_kernels.h has it, `dtype` (bf16 where it is not given),
/// `measures` (burst, or sustained), and `seconds`, or `of_peak` with `peak_tflops`. An attention
/// whose shape does not say `causal` is causal, and its share counts the pairs that it leaves out
/// too. Lines of the other kind than most of the table's are left out.
KernelTable read_kernel_table(const std::string& text, const std::string& file,
                              text::Mistakes& mistakes);

/// The table of a file, which points of a grid share.
std::shared_ptr<const KernelTable> shared_kernel_table(const std::string& file);

}  // namespace debubble::scenarios
