#include "exec/cuda/cuda_gpu.h"

#include <string>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

#include "base/diagnostic.h"
#include "exec/cuda/driver.h"

namespace debubble::exec::cuda {

const char* failed_launch();

namespace {

class CudaQueue final : public Queue {
public:
    CudaQueue(Gpu& gpu, Stream stream) : Queue(gpu), stream_(stream) {}
    ~CudaQueue() override { cudaStreamDestroy(stream_); }

    Stream stream() override { return stream_; }
    void copy(const void* from, void* to, std::int64_t size) override {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size), cudaMemcpyDefault, stream_),
              "a copy on the GPU");
    }
    void fill_zero(void* memory, std::int64_t size) override {
        check(cudaMemsetAsync(memory, 0, static_cast<std::size_t>(size), stream_),
              "memory of the GPU");
    }
    void record(Event event) override {
        check(cudaEventRecord(event, stream_), "an event of the GPU");
    }
    void wait(Event event) override {
        check(cudaStreamWaitEvent(stream_, event, cudaEventWaitDefault), "an event of the GPU");
    }

private:
    Stream stream_;
};

}  // namespace

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // reported here, so that the next call does not report it again
    throw WorldError(std::string(what) + ": " + error_text(status));
}

CudaGpu::CudaGpu(int device, int part, int parts) : device_(device) {
    check(cudaSetDevice(device), "the GPU");  // the thread's later launches go to this device
    if (parts > 1) part_ = make_green_part(device, part, parts);
}

/// Only one thread at a time may use a part's context, and the threads of other ranks also use the
/// queues that communicate: those therefore belong to the whole GPU. They have priority, since
/// kernels wait for them.
std::unique_ptr<Queue> CudaGpu::make_queue(bool communicates) {
    if (part_.context && !communicates)
        return std::make_unique<CudaQueue>(*this, part_.context->make_stream());
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "a CUDA stream");
    Stream stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                       communicates ? greatest : least),
          "a CUDA stream");
    return std::make_unique<CudaQueue>(*this, stream);
}

Event CudaGpu::make_event() {
    Event event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDefault), "an event of the GPU");
    return event;
}

bool CudaGpu::reached(Event event) {
    const char* const failed = failed_launch();
    check(cudaGetLastError(), failed ? failed : "a kernel");
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaErrorNotReady) {
        cudaGetLastError();  // not an error, whether or not the next query finds it
        return false;
    }
    check(status, "kernels on the GPU");
    return true;
}

std::chrono::nanoseconds CudaGpu::between(Event earlier, Event later) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, earlier, later), "the clock of the GPU");
    return std::chrono::nanoseconds(static_cast<std::int64_t>(double{milliseconds} * 1e6));
}

#if __has_include(<nvtx3/nvToolsExt.h>)
void CudaGpu::open_range(const char* name) {
    nvtxRangePushA(name);
}
void CudaGpu::close_range() {
    nvtxRangePop();
}
#else
void CudaGpu::open_range(const char*) {}
void CudaGpu::close_range() {}
#endif

void* CudaGpu::allocate(std::int64_t size) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, static_cast<std::size_t>(size)), "memory of the GPU");
    return memory;
}

void* CudaGpu::pin(std::int64_t size) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, static_cast<std::size_t>(size), cudaHostAllocDefault),
          "pinned memory of the host");
    return memory;
}

}  // namespace debubble::exec::cuda
