#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/profile/memory_curve.h"

/// The records of a framework's profiler about one rank, without interpretation, and the classes of
/// its kernels.
namespace debubble::profile {

/// The purpose of a framework's kernel (or CPU operator), by its name.
enum class KernelClass : std::uint8_t {
    PointToPoint,
    Collective,
    Dispatch,  ///< all-to-alls of experts' tokens, dispatch and combine
    AttentionForward,
    AttentionBackward,
    Product,
    Norm,
    Optimizer,
    Quantise,
    Loss,
    Embedding,
    Elementwise,
    Copy,
    Unknown,
};
inline constexpr std::size_t kKernelClasses = 14;

/// The names are those of kernels of NCCL, cuDNN, FlashAttention, CUTLASS, cuBLAS, DeepEP,
/// Transformer Engine, PyTorch's ATen and Inductor, and ROCm's libraries. The first rule that
/// matches decides.
KernelClass class_of(std::string_view kernel);
/// The class of an operator of a trace without a device: "aten::mm".
KernelClass class_of_operator(std::string_view op);

std::string_view name_of(KernelClass kernel_class);
bool is_communication(KernelClass kernel_class);
/// True for the name of a backward kernel, as far as names reveal it.
bool names_backward(std::string_view kernel);
/// True for the GEMM of a weight gradient: one whose name says so, or whose first factor is not
/// transposed while the second is, as cuBLAS, CUTLASS and Tensile encode in their names. In their
/// column-major order a linear layer multiplies TN, its input's gradient is NN, its weight's NT.
bool names_weight_gradient(std::string_view kernel);

inline constexpr std::int64_t kNoLaunch = INT64_MIN;

/// A kernel or a copy on a device. Times are nanoseconds of the rank's own clock.
struct DeviceSpan {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t launched = kNoLaunch;  ///< when the host launched it
    std::uint32_t name = 0;             ///< index in RankProfile::names
    std::int32_t device = 0;
    std::int32_t stream = 0;
    std::uint32_t note = 0;  ///< index in RankProfile::notes; 0 is an empty one
    KernelClass kernel_class = KernelClass::Unknown;
    std::int64_t length() const { return end - begin; }
};

/// A range that a framework marked on a thread of the host, or an operator there.
struct HostSpan {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint32_t name = 0;
    std::int32_t thread = 0;
};

/// The recorded properties of the collective that a kernel belongs to.
struct CollectiveNote {
    std::optional<std::string> collective;  ///< "_reduce_scatter_base", if recorded
    std::string group;                      ///< description of its process group
    std::int64_t in_elements = 0;
    std::int64_t out_elements = 0;
    int group_size = 0;
    std::string type;         ///< type of an element: "BFloat16"
    std::optional<int> peer;  ///< global rank of the other end of a send or recv, if recorded
    friend bool operator==(const CollectiveNote&, const CollectiveNote&) = default;
};

struct ProcessGroup {
    std::string description;
    std::vector<int> ranks;
};

/// Texts by number, each once.
class Names {
public:
    std::uint32_t number_of(std::string_view text);
    const std::string& operator[](std::uint32_t number) const { return texts_[number]; }
    std::size_t size() const { return texts_.size(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::vector<std::string> texts_;
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

struct RankProfile {
    std::string file;
    std::string format;  ///< "Kineto" or "Nsight Systems"
    std::optional<int> rank;
    std::optional<int> world_size;
    std::string backend;  ///< "nccl", "gloo"
    std::string device;   ///< name of the device, empty without one
    std::vector<ProcessGroup> groups;
    Names names;
    std::vector<CollectiveNote> notes{CollectiveNote{}};
    std::vector<DeviceSpan> kernels;  ///< by begin
    std::vector<HostSpan> ranges;     ///< marked ranges, by begin
    std::vector<HostSpan> ops;        ///< operators, by begin; only where there are no kernels
    std::optional<std::int64_t>
        peak_allocated;  ///< bytes of a device, by the framework's allocator
    /// The allocator's memory over time, by time; of the host where there is no device.
    std::vector<MemoryPoint> memory;
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;             ///< of its text
    std::optional<std::string> cut_off;  ///< where the text ends too early, in words
};

/// Sets the classes of kernels, the order promised by the comments above, and the begin of the
/// host's messages, at the call that requests them.
void finish(RankProfile& profile);

}  // namespace debubble::profile
