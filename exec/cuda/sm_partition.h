#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "exec/cuda/kernels/operands.h"

/// The division of a GPU's multiprocessors among ranks: plain arithmetic, tested without a GPU, and
/// the green contexts that carry it out.
namespace debubble::exec::cuda {

/// The limits on a part: its least number of multiprocessors, and the number that it is a multiple
/// of.
struct SmLimits {
    int least = 1;
    int alignment = 1;
};

/// The limits by major compute capability, where the driver does not report them (CUDA driver API,
/// "Green Contexts": the guideline for each architecture).
constexpr SmLimits sm_limits_of(int major) {
    if (major >= 9) return {8, 8};
    if (major == 8) return {4, 2};
    return {2, 2};
}

/// The multiprocessors of each of `parts` equal parts; nothing where that would be too few. The
/// remainder belongs to no part, so that the parts are equal.
constexpr std::optional<int> sm_of_each(int multiprocessors, int parts, const SmLimits& limits) {
    const int each = multiprocessors / parts / limits.alignment * limits.alignment;
    if (each < std::max(limits.least, 1)) return std::nullopt;
    return each;
}

/// The multiprocessors for which GEMM kernels are chosen, of the `available` ones of a rank, while
/// communications hold `taken`: a persistent kernel that counts on all of them would begin a second
/// wave for the few that are not free. At least half of them; 0 where nothing is taken and the rank
/// has the whole GPU, which needs no choice.
constexpr int multiprocessors_for_products(int available, int taken, bool whole_gpu) {
    if (taken <= 0) return whole_gpu ? 0 : available;
    return std::max(available - taken, (available + 1) / 2);
}

/// A part of a GPU's multiprocessors that only the streams made of it use, so that ranks on one GPU
/// compute at the same time. Streams must be destroyed before it.
class GreenContext {
public:
    virtual ~GreenContext() = default;
    virtual Stream make_stream() = 0;  ///< throws WorldError
    virtual int multiprocessors() const = 0;
};

struct GreenPart {
    std::unique_ptr<GreenContext> context;  ///< unset where the driver has no green contexts
    std::string note;                       ///< a sentence for the log
};

/// Part `part` of `parts` equal parts of the calling thread's GPU. Every rank on the GPU, of this
/// process or another, splits it in the same way. The driver's functions are found by name, never
/// linked.
GreenPart make_green_part(int device, int part, int parts);

}  // namespace debubble::exec::cuda
