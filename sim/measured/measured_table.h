#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/document.h"

/// Published or measured training steps: a file of JSON lines, each of them one measured step with
/// the whole scenario that ran, or one collective, or one kernel. Nothing is derived from the name
/// of a file.
namespace debubble::sim {

/// The quantity that the source calls the peak of a device's memory.
struct MeasuredPeak {
    enum class Kind : std::uint8_t {
        Allocated,  ///< allocated, held by tensors (torch.cuda.max_memory_allocated)
        Reserved,   ///< reserved by the allocator (torch.cuda.max_memory_reserved)
        Unknown,    ///< not stated: it is not compared
    };
    enum class Of : std::uint8_t { AnyRank, FirstRank, LastRank };
    double gib = 0;
    Kind kind = Kind::Unknown;
    Of of = Of::AnyRank;  ///< pipeline rank that was measured; AnyRank is the fullest
    /// The peak of the first step, most of which runs before the optimizer's moments exist.
    bool first_step = false;
};

/// One measured step with at least one figure.
struct MeasuredStep {
    std::string table;  ///< file name without its ending
    int line = 0;       ///< line in the file
    std::string row;    ///< "h100 gpt-175b x512 tp4 pp8"
    std::string source;
    text::NodePtr scenario;        ///< a map, as a scenario's file has it
    std::optional<double> step_s;  ///< seconds of an optimizer step
    std::optional<double> tokens_per_s_per_gpu;
    std::optional<double> tflops_per_gpu;  ///< model FLOPs by the source's own formula
    std::optional<MeasuredPeak> peak;
    std::optional<double> held_gib;         ///< allocated between two steps, on the peak's rank
    std::optional<double> activations_gib;  ///< added by the forward
    std::optional<double> time_s;           ///< of a collective or a kernel
    std::optional<double> busbw_gb_per_s;   ///< of a collective, as nccl-tests count it; 1e9 bytes
    std::vector<std::string> not_stated;    ///< settings that the source does not state, in words
                                            ///< or keys
    std::string notes;

    /// The row measured one collective: its scenario is {cluster, gpus, collective, bytes}.
    bool is_collective() const;
    /// The row measured one kernel: its scenario is {cluster, kernel, dtype, shape, measures}.
    bool is_kernel() const;
    bool is_part() const { return is_collective() || is_kernel(); }
};

/// Adds the rows of a table. Throws InputError with every bad line: one that is not JSON, that
/// lacks `row`, `scenario` or `measured`, that has no measured figure, whose figure is not a
/// positive number, or whose figures are a step's where its scenario is a collective or a kernel,
/// or the reverse.
void read_measured(const std::string& text, const std::string& file,
                   std::vector<MeasuredStep>& steps);

}  // namespace debubble::sim
