#include "exec/cuda/green_context.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/cuda/driver_function.h"
#include "exec/cuda/sm_partition.h"

namespace debubble::exec::cuda {

namespace {

/// What the driver could not do; the ranks then share all multiprocessors.
struct NotPossible {
    std::string what;
};

template <class Function>
Function driver(const char* name) {
    const auto found = driver_function<Function>(name);
    if (found == nullptr) throw NotPossible{fmt::format("the driver has no {}", name)};
    return found;
}

void require(CUresult result, const char* name) {
    if (result != CUDA_SUCCESS)
        throw NotPossible{fmt::format("{} failed with error {}", name, static_cast<int>(result))};
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
        try {
            DEBUBBLE_DRIVER(cuGreenCtxDestroy, context_);
        } catch (const NotPossible&) {  // the process ends with it
        }
    }
    DriverContext(const DriverContext&) = delete;
    DriverContext& operator=(const DriverContext&) = delete;

    Stream make_stream() override {
        CUstream stream = nullptr;
        try {
            DEBUBBLE_DRIVER(cuGreenCtxStreamCreate, &stream, context_, CU_STREAM_NON_BLOCKING, 0);
        } catch (const NotPossible& why) {
            throw WorldError("a stream of a part of the GPU: " + why.what);
        }
        return stream;
    }
    int multiprocessors() const override { return multiprocessors_; }

private:
    CUgreenCtx context_ = nullptr;
    int multiprocessors_;
};

/// Ranks wait for each other by events of the runtime, which the header promises only for streams
/// of the event's own context.
void require_events(GreenContext& context) {
    const auto need = [](cudaError_t status) {
        if (status != cudaSuccess)
            throw NotPossible{fmt::format("events do not hold on a part's streams: {}",
                                          cudaGetErrorString(status))};
    };
    const Stream stream = context.make_stream();
    cudaEvent_t event = nullptr;
    need(cudaEventCreateWithFlags(&event, cudaEventDefault));
    need(cudaEventRecord(event, stream));
    need(cudaStreamWaitEvent(stream, event, cudaEventWaitDefault));
    need(cudaEventSynchronize(event));
    need(cudaEventDestroy(event));
    need(cudaStreamDestroy(stream));
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
        throw NotPossible{"the GPU does not say its compute capability"};
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
    const auto each = sm_of_each(multiprocessors, parts, limits_of(all, device));
    if (!each) throw NotPossible{fmt::format("{} are too few", multiprocessors)};
    std::vector<CUdevResource> shares(static_cast<std::size_t>(parts));
    CUdevResource rest{};
    auto made = static_cast<unsigned>(parts);
    DEBUBBLE_DRIVER(cuDevSmResourceSplitByCount, shares.data(), &made, &all, &rest, 0,
                    static_cast<unsigned>(*each));
    if (made != static_cast<unsigned>(parts))
        throw NotPossible{fmt::format("the driver makes {} parts of {}", made, multiprocessors)};
    GreenPart green;
    green.context = std::make_unique<DriverContext>(shares[static_cast<std::size_t>(part)], number);
    require_events(*green.context);
    green.note = fmt::format("each of {} ranks has {} of the GPU's {} multiprocessors", parts,
                             green.context->multiprocessors(), multiprocessors);
    return green;
}

}  // namespace

GreenPart make_green_part(int device, int part, int parts) {
    try {
        return split(device, part, parts);
    } catch (const NotPossible& why) {
        cudaGetLastError();  // the next question must not find it
        return {nullptr,
                fmt::format("{} ranks share the multiprocessors of a GPU, none has its own: {}",
                            parts, why.what)};
    }
}

}  // namespace debubble::exec::cuda
