#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "exec/cuda/driver.h"

/// Questions to a GPU: do green contexts give two ranks multiprocessors of their own, and do the
/// streams of one wait for events on those of the other? Runs a kernel in each of two at the same
/// time and looks at where its blocks ran, then one behind the other. Exits with 0 if the two sets
/// are disjoint and the second kernel came second. The driver is asked for by name, never linked.
namespace {

void check(bool fine, const char* what) {
    if (fine) return;
    std::printf("green contexts: %s failed: %s\n", what,
                debubble::exec::cuda::error_text(cudaGetLastError()).c_str());
    std::exit(1);
}

template <class Function>
Function driver(const char* name) {
    const auto found = debubble::exec::cuda::driver_function<Function>(name);
    check(found != nullptr, name);
    return found;
}

/// Stays on the multiprocessor of each block for a while, then notes it.
__global__ void note_place(unsigned* places, long long cycles) {
    unsigned place = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(place));
    const long long begin = clock64();
    while (clock64() - begin < cycles) continue;
    if (threadIdx.x == 0) places[blockIdx.x] = place;
}

/// The result counts only if it runs after note_place.
__global__ void look(const unsigned* places, unsigned* seen) {
    *seen = places[0];
}

struct Part {
    CUgreenCtx context = nullptr;
    cudaStream_t stream = nullptr;
    unsigned* places = nullptr;
};

Part part_of(CUdevResource resource, CUdevice device) {
    CUdevResourceDesc description = nullptr;
    check(driver<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc")(
              &description, &resource, 1) == CUDA_SUCCESS,
          "cuDevResourceGenerateDesc");
    Part part;
    check(driver<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate")(
              &part.context, description, device, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS,
          "cuGreenCtxCreate");
    check(driver<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate")(
              &part.stream, part.context, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS,
          "cuGreenCtxStreamCreate");
    return part;
}

/// An event of the runtime, recorded on the first part's stream, holds the second's up, and tells
/// the time between the two.
bool second_waits_for_first(const Part& first, const Part& second) {
    constexpr unsigned kNothing = 0xffffffffU;
    constexpr long long kLong = 100'000'000;
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess, "events");
    check(cudaMemset(first.places, 0xff, sizeof(unsigned)) == cudaSuccess, "memory");
    check(cudaDeviceSynchronize() == cudaSuccess, "the GPU");
    check(cudaEventRecord(begin, first.stream) == cudaSuccess, "an event of a green context");
    note_place<<<1, 32, 0, first.stream>>>(first.places, kLong);
    check(cudaEventRecord(end, first.stream) == cudaSuccess, "an event of a green context");
    check(cudaStreamWaitEvent(second.stream, end, cudaEventWaitDefault) == cudaSuccess,
          "a wait of another green context");
    look<<<1, 1, 0, second.stream>>>(first.places, second.places);
    unsigned seen = kNothing;
    check(cudaDeviceSynchronize() == cudaSuccess, "the kernels");
    check(cudaMemcpy(&seen, second.places, sizeof(seen), cudaMemcpyDeviceToHost) == cudaSuccess,
          "a copy");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess,
          "the time between events");
    return seen != kNothing && milliseconds > 1;
}

}  // namespace

int main() {
    constexpr int kBlocks = 512;
    constexpr long long kCycles = 1'000'000;
    check(cudaSetDevice(0) == cudaSuccess && cudaFree(nullptr) == cudaSuccess, "the GPU");
    CUdevice device = 0;
    check(driver<decltype(&cuDeviceGet)>("cuDeviceGet")(&device, 0) == CUDA_SUCCESS, "cuDeviceGet");
    CUdevResource all{};
    check(driver<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource")(
              device, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS,
          "cuDeviceGetDevResource");
    CUdevResource half{}, rest{};
    unsigned groups = 1;
    check(driver<decltype(&cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount")(
              &half, &groups, &all, &rest, 0, all.sm.smCount / 2) == CUDA_SUCCESS &&
              groups == 1,
          "cuDevSmResourceSplitByCount");
    std::printf("multiprocessors: %u = %u + %u\n", all.sm.smCount, half.sm.smCount,
                rest.sm.smCount);

    Part parts[2] = {part_of(half, device), part_of(rest, device)};
    for (Part& part : parts)
        check(cudaMalloc(&part.places, kBlocks * sizeof(unsigned)) == cudaSuccess, "memory");
    for (Part& part : parts) note_place<<<kBlocks, 1024, 0, part.stream>>>(part.places, kCycles);
    check(cudaDeviceSynchronize() == cudaSuccess, "the kernels");
    std::set<unsigned> ran[2];
    for (int p = 0; p < 2; ++p) {
        std::vector<unsigned> places(kBlocks);
        check(cudaStreamSynchronize(parts[p].stream) == cudaSuccess, "a stream");
        check(cudaMemcpy(places.data(), parts[p].places, kBlocks * sizeof(unsigned),
                         cudaMemcpyDeviceToHost) == cudaSuccess,
              "a copy");
        ran[p].insert(places.begin(), places.end());
    }
    int shared = 0;
    for (const unsigned place : ran[0]) shared += static_cast<int>(ran[1].count(place));
    const bool in_order = second_waits_for_first(parts[0], parts[1]);
    std::printf("blocks ran on %zu and %zu multiprocessors, %d of them shared; events %s\n",
                ran[0].size(), ran[1].size(), shared,
                in_order ? "keep order" : "do not keep order");
    return shared == 0 && in_order ? 0 : 1;
}
