#include "exec/cuda/sm_partition.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/cuda/driver.h"
#include "exec/cuda/kernels/reduce.h"

namespace debubble::exec::cuda {

namespace {

/// A step that the driver could not take; the ranks then share all multiprocessors.
struct NotPossible : WorldError {
    using WorldError::WorldError;
};

template <class Function>
Function driver(const char* name) {
    const auto found = driver_function<Function>(name);
    if (found == nullptr) throw NotPossible{fmt::format("the driver has no {}", name)};
    return found;
}

void require(CUresult result, const char* name) {
    if (result == CUDA_SUCCESS) return;
    const char* text = nullptr;
    const auto name_of = driver_function<decltype(&cuGetErrorName)>("cuGetErrorName");
    if (name_of == nullptr || name_of(result, &text) != CUDA_SUCCESS) text = "an unknown error";
    throw NotPossible{fmt::format("{} failed: {}, {}", name, text, static_cast<int>(result))};
}

#define DEBUBBLE_DRIVER(function, ...) \
    require(driver<decltype(&function)>(#function)(__VA_ARGS__), #function)

class DriverContext final : public GreenContext {
public:
    DriverContext(CUdevResource& share, CUdevice device)
        : multiprocessors_(static_cast<int>(share.sm.smCount)) {
        CUdevResourceDesc description = nullptr;
        DEBUBBLE_DRIVER(cuDevResourceGenerateDesc, &description, &share, 1);
        DEBUBBLE_DRIVER(cuGreenCtxCreate, &context_, description, device,
                        CU_GREEN_CTX_DEFAULT_STREAM);
    }
    ~DriverContext() override {
        if (const auto destroy = driver_function<decltype(&cuGreenCtxDestroy)>("cuGreenCtxDestroy"))
            destroy(context_);
    }
    DriverContext(const DriverContext&) = delete;
    DriverContext& operator=(const DriverContext&) = delete;

    Stream make_stream() override {
        CUstream stream = nullptr;
        DEBUBBLE_DRIVER(cuGreenCtxStreamCreate, &stream, context_, CU_STREAM_NON_BLOCKING, 0);
        return stream;
    }
    int multiprocessors() const override { return multiprocessors_; }

private:
    CUgreenCtx context_ = nullptr;
    int multiprocessors_;
};

/// Throws unless a part's streams can do what ranks ask of them and the headers promise only for
/// streams of one context: run a kernel, give times between events, and wait for a stream of the
/// whole GPU and the other way round.
void require_streams(DriverContext& context) {
    const auto need = [](cudaError_t status) {
        if (status != cudaSuccess)
            throw NotPossible{
                fmt::format("streams of a part of the GPU lack something: {}", error_text(status))};
    };
    const Stream part = context.make_stream();
    Stream whole = nullptr;
    need(cudaStreamCreateWithFlags(&whole, cudaStreamNonBlocking));
    cudaEvent_t events[3] = {};
    for (cudaEvent_t& event : events) need(cudaEventCreateWithFlags(&event, cudaEventDefault));
    void* memory = nullptr;
    need(cudaMalloc(&memory, sizeof(float)));
    need(cudaEventRecord(events[0], part));
    need(cudaMemsetAsync(memory, 0, sizeof(float), part));
    Parties alone;
    alone.sources = alone.targets = 1;
    alone.from[0] = static_cast<std::byte*>(memory);
    alone.to[0] = static_cast<std::byte*>(memory);
    reduce(part, 1, Type::Fp32, false, alone);
    need(cudaGetLastError());
    need(cudaEventRecord(events[1], part));
    need(cudaStreamWaitEvent(whole, events[1], cudaEventWaitDefault));
    need(cudaMemsetAsync(memory, 0, sizeof(float), whole));
    need(cudaEventRecord(events[2], whole));
    need(cudaStreamWaitEvent(part, events[2], cudaEventWaitDefault));
    need(cudaStreamSynchronize(part));
    float milliseconds = 0;
    need(cudaEventElapsedTime(&milliseconds, events[0], events[2]));
    need(cudaFree(memory));
    for (const cudaEvent_t event : events) need(cudaEventDestroy(event));
    need(cudaStreamDestroy(whole));
    need(cudaStreamDestroy(part));
}

SmLimits limits_of(const CUdevResource& all, int device) {
#if CUDA_VERSION >= 13000
    (void)device;
    return {static_cast<int>(all.sm.minSmPartitionSize),
            static_cast<int>(all.sm.smCoscheduledAlignment)};
#else
    (void)all;
    int major = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
        throw NotPossible{"the GPU does not report its compute capability"};
    return sm_limits_of(major);
#endif
}

GreenPart split(int device, int part, int parts) {
    if (cudaFree(nullptr) != cudaSuccess) throw NotPossible{"the GPU has no context"};
    CUdevice number = 0;
    DEBUBBLE_DRIVER(cuDeviceGet, &number, device);
    CUdevResource all{};
    DEBUBBLE_DRIVER(cuDeviceGetDevResource, number, &all, CU_DEV_RESOURCE_TYPE_SM);
    const int multiprocessors = static_cast<int>(all.sm.smCount);
    const SmLimits limits = limits_of(all, device);
    const auto each = sm_of_each(multiprocessors, parts, limits);
    if (!each) throw NotPossible{fmt::format("{} multiprocessors are too few", multiprocessors)};
    std::vector<CUdevResource> shares(static_cast<std::size_t>(parts));
    // Not every chip has as many whole groups of multiprocessors as their number suggests.
    unsigned made = 0;
    for (int size = *each; made != static_cast<unsigned>(parts); size -= limits.alignment) {
        if (size < std::max(limits.least, 1))
            throw NotPossible{fmt::format("the driver provides only {} parts of {} multiprocessors",
                                          made, multiprocessors)};
        CUdevResource rest{};
        made = static_cast<unsigned>(parts);
        DEBUBBLE_DRIVER(cuDevSmResourceSplitByCount, shares.data(), &made, &all, &rest, 0,
                        static_cast<unsigned>(size));
    }
    GreenPart green;
    auto context = std::make_unique<DriverContext>(shares[part], number);
    require_streams(*context);
    green.context = std::move(context);
    green.note = fmt::format("each of {} ranks has {} of the GPU's {} multiprocessors", parts,
                             green.context->multiprocessors(), multiprocessors);
    return green;
}

}  // namespace

GreenPart make_green_part(int device, int part, int parts) {
    try {
        return split(device, part, parts);
    } catch (const NotPossible& why) {
        cudaGetLastError();  // the next query must not find it
        return {nullptr,
                fmt::format("{} ranks share all multiprocessors of a GPU: {}", parts, why.what())};
    }
}

}  // namespace debubble::exec::cuda
