#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The times of operators' kernels by the sizes of their inputs, from torch.profiler with
/// record_shapes=True.
namespace debubble::profile {

/// One argument of an operator. An argument other than a tensor has no sizes and, where it is
/// written, a value; a list of tensors has neither.
struct OperatorInput {
    std::vector<std::int64_t> dims;
    std::optional<std::vector<std::int64_t>> strides;  ///< in elements, if they are written
    std::string type;                                  ///< "c10::BFloat16", "Scalar"
    std::string value;                                 ///< "True", "0.5"
};

/// Runs of an operator with the same inputs.
struct OperatorRuns {
    std::string name;  ///< "aten::mm"
    std::vector<OperatorInput> inputs;
    /// Nanoseconds of the kernels of each run: its GEMMs, attention and unclassified kernels, one
    /// after the other, without copies and elementwise kernels. Without a device, of the operator.
    std::vector<std::int64_t> lengths;
};

struct RecordedKernels {
    std::string file;
    std::optional<std::string> device;    ///< its name, if it is written
    bool on_device = false;               ///< kernels are measured instead of operators
    std::vector<OperatorRuns> operators;  ///< in the order of their first event
    bool has_operators = false;           ///< of any kind
    bool has_wanted = false;              ///< number of wanted operators, with sizes or without
    bool has_sizes = false;               ///< number of kernels of any wanted operator
    std::int64_t others = 0;  ///< ns of kernels of GEMMs and attention outside of these operators
    std::optional<std::string> cut_off;  ///< where the text ends too early, in words
};

/// Reads a file of torch.profiler, plain or gzip, once and event by event. Only operators in
/// `wanted` are kept. A kernel belongs to the operator with its External id, or else to the
/// innermost one that contains its launch. Throws InputError with the byte of the mistake.
RecordedKernels read_recorded_kernels(const std::string& file,
                                      const std::function<bool(std::string_view)>& wanted);
/// The same for a text in memory; `name` is for diagnostics.
RecordedKernels read_recorded_kernels_text(std::string_view text, const std::string& name,
                                           const std::function<bool(std::string_view)>& wanted);

// The kernels launched by each operator of a framework.

/// One run of an operator on a thread of the host. Times are nanoseconds.
struct OperatorSpan {
    std::int64_t external = -1;  ///< -1 or 0 without an id
    std::uint64_t thread = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint32_t inputs = 0;  ///< number of its arguments' combination
};

struct LaunchedKernel {
    std::int64_t external = -1;
    std::int64_t correlation = -1;
    std::int64_t length = 0;
    bool matrix = false;  ///< GEMM or attention by its name; else it may be one
};

struct LaunchSpan {
    std::int64_t correlation = -1;
    std::uint64_t thread = 0;
    std::int64_t begin = 0;
};

struct OperatorTimes {
    std::vector<std::int64_t> of;  ///< by operator; 0 for those that launched none
    std::int64_t without = 0;      ///< of GEMMs and attention that none of them launched
};

/// The kernels' lengths, summed for each operator. Reorders the operators.
OperatorTimes kernel_times(std::vector<OperatorSpan>& operators,
                           const std::vector<LaunchedKernel>& kernels,
                           std::vector<LaunchSpan> launches);

/// The lengths of operators that contain no other one of the list, 0 for the rest, likewise.
OperatorTimes innermost_times(std::vector<OperatorSpan>& operators);

}  // namespace debubble::profile
