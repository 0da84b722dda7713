#pragma once

#include <cuda_runtime.h>

#include "exec/cuda/queue.h"
#include "exec/cuda/sm_partition.h"

namespace debubble::exec::cuda {

/// Throws WorldError with `what` if the call has failed.
void check(cudaError_t status, const char* what);

/// A GPU by CUDA, or the part of it that one of several ranks has. The thread that makes it is the
/// one that uses it.
class CudaGpu final : public Gpu {
public:
    CudaGpu(int device, int part, int parts);
    const std::string& note() const { return part_.note; }  ///< empty where there is one rank
    /// Number of multiprocessors of a part of the GPU; 0: all of them.
    int multiprocessors() const { return part_.context ? part_.context->multiprocessors() : 0; }

    std::unique_ptr<Queue> make_queue(bool communicates) override;
    Event make_event() override;
    void destroy(Event event) noexcept override { cudaEventDestroy(event); }
    bool reached(Event event) override;
    std::chrono::nanoseconds between(Event earlier, Event later) override;
    void* allocate(std::int64_t size) override;
    void free(void* memory) noexcept override { cudaFree(memory); }
    void* pin(std::int64_t size) override;
    void unpin(void* memory) noexcept override { cudaFreeHost(memory); }
    std::int32_t number() const override { return device_; }

    void open_range(const char* name) override;
    void close_range() override;

private:
    int device_;
    GreenPart part_;
};

}  // namespace debubble::exec::cuda
