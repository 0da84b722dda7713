#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "scenarios/cluster/kernel_table.h"

/// `debubble calibrate --from-trace --kernels-out`: a table of measured kernels from profiles.
namespace debubble::exec {

struct RecordedTable {
    std::string text;  ///< lines of JSON, as `cluster.gpu.kernels` reads them
    std::shared_ptr<const scenarios::KernelTable> kernels;  ///< what is read from them
    std::size_t products = 0;                               ///< lines, grouped products among them
    std::size_t attentions = 0;                             ///< likewise
    std::set<std::string> types;                            ///< of operands
    std::int64_t runs = 0;  ///< of kernels that the lines are medians of
    /// Of the time of all kernels of products and attentions, that of the runs; nearly 1 where
    /// every one was launched by an operator that is known.
    double share = 0;
    std::map<std::string, std::int64_t> left_out;  ///< runs by operator and reason
    std::vector<std::string> notes;

    /// A sentence for each thing that a person should know.
    std::string words() const;
};

/// Reads profiles of torch.profiler, one of each rank, plain or gzip's. A line is the median of all
/// runs of one shape on all ranks. Ranks without shapes, without operators of the CPU or
/// without products and attentions are left out and named. Throws InputError where all are, and for
/// a file of another kind.
RecordedTable recorded_table(const std::vector<std::string>& files);

}  // namespace debubble::exec
