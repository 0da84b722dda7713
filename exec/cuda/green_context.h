#pragma once

#include <memory>
#include <string>

#include "exec/cuda/kernels/operands.h"

namespace debubble::exec::cuda {

/// A part of a GPU's multiprocessors that only the streams made of it use: so ranks on one GPU
/// compute truly side by side. Streams must be destroyed before it.
class GreenContext {
public:
    virtual ~GreenContext() = default;
    virtual Stream make_stream() = 0;  ///< throws WorldError
    virtual int multiprocessors() const = 0;
};

struct GreenPart {
    std::unique_ptr<GreenContext> context;  ///< none where the driver cannot
    std::string note;                       ///< a sentence for the log
};

/// Part `part` of `parts` equal ones of the GPU, which is the calling thread's. Every rank on the
/// GPU, of this process or another, splits alike. The driver is asked for by name, never linked.
GreenPart make_green_part(int device, int part, int parts);

}  // namespace debubble::exec::cuda
