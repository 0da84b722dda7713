#pragma once

#include <memory>
#include <string>

#include "exec/cuda/kernels/operands.h"

namespace debubble::exec::cuda {

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
/// process or another, splits it alike. The driver's functions are found by name, never linked.
GreenPart make_green_part(int device, int part, int parts);

}  // namespace debubble::exec::cuda
