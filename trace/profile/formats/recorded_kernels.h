#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The times of operators' kernels by the sizes of their inputs, from torch.profiler with
/// record_shapes=True.
namespace debubble::profile {

/// One argument of an operator. What is no tensor has no sizes and, as far as it is written, a
/// value; a list of tensors has neither.
struct OperatorInput {
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> strides;  ///< in elements; empty where they are not written
    std::string type;                   ///< "c10::BFloat16", "Scalar"
    std::string value;                  ///< "True", "0.5"
};

/// Runs of one operator with the same inputs.
struct OperatorRuns {
    std::string name;  ///< "aten::mm"
    std::vector<OperatorInput> inputs;
    /// Nanoseconds of the kernels of each run: its products, attentions and what no rule knows, one
    /// after the other, without copies and elementwise kernels. Without a device, of the operator.
    std::vector<std::int64_t> lengths;
};

struct RecordedKernels {
    std::string file;
    std::string device;                   ///< its name; empty where it is not written
    bool on_device = false;               ///< kernels are counted, and not operators
    std::vector<OperatorRuns> operators;  ///< in the order of their first event
    bool has_operators = false;           ///< of any kind
    bool has_wanted = false;              ///< of those asked for, with sizes or without
    bool has_sizes = false;               ///< of any operator asked for
    std::int64_t others = 0;  ///< ns of kernels of products and attentions that none of them ran
    std::string cut_off;      ///< where the text ends too early, in words; empty if it is whole
};

/// Reads a file of torch.profiler, plain or gzip's, once and event by event. Of operators only
/// those that `wanted` names are kept. A kernel belongs to the operator whose External id it has,
/// or else to the innermost one in which its launch lies. Throws InputError with the byte of what
/// is wrong.
RecordedKernels read_recorded_kernels(const std::string& file,
                                      const std::function<bool(std::string_view)>& wanted);
/// The same of a text in memory; `name` is for diagnostics.
RecordedKernels read_recorded_kernels_text(std::string_view text, const std::string& name,
                                           const std::function<bool(std::string_view)>& wanted);

}  // namespace debubble::profile
