#include "tests/exec/cuda/nccl_library/fake_nccl_library.h"

#include <cuda_runtime.h>

#include <cstdlib>

namespace debubble::exec::nccl {

FakeNcclLibrary fake_nccl_library;

void FakeNcclLibrary::forget() {
    const std::lock_guard lock(mutex);
    version = 22809, driver = 13000;
    calls_in_progress = 0;
    of_registering = ncclSuccess;
    made.clear();
    allocated.clear();
    freed = 0;
    environment.clear();
}

namespace {

ncclResult_t begin_call(ncclComm_t communicator) {
    const std::lock_guard lock(fake_nccl_library.mutex);
    fake_nccl_library.made[communicator].asked = 0;
    return fake_nccl_library.calls_in_progress > 0 ? ncclInProgress : ncclSuccess;
}
template <class Change>
ncclResult_t change(ncclComm_t communicator, const Change& change_it) {
    const std::lock_guard lock(fake_nccl_library.mutex);
    change_it(fake_nccl_library.made[communicator]);
    return ncclSuccess;
}

}  // namespace
}  // namespace debubble::exec::nccl

using debubble::exec::nccl::begin_call;
using debubble::exec::nccl::change;
using debubble::exec::nccl::fake_nccl_library;
using Made = debubble::exec::nccl::FakeNcclLibrary::Made;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
    *version = fake_nccl_library.version;
    return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t /*result*/) {
    return "the library's words";
}
const char* ncclGetLastError(ncclComm_t /*communicator*/) {
    return "";
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    *id = {};
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId /*id*/,
                                    int /*rank*/, ncclConfig_t* config) {
    {
        const std::lock_guard lock(fake_nccl_library.mutex);
        const auto number = fake_nccl_library.made.size() + 1;
        *communicator = reinterpret_cast<ncclComm_t>(16 * number);
        Made& made = fake_nccl_library.made[*communicator];
        made.ranks = ranks;
        made.most_ctas = config->maxCTAs;
        made.blocking = config->blocking;
        for (const char* name : {"NCCL_LAUNCH_ORDER_IMPLICIT", "NCCL_RUNTIME_CONNECT",
                                 "NCCL_HOSTID", "NCCL_NVLS_ENABLE"})
            if (const char* value = std::getenv(name); value != nullptr)
                fake_nccl_library.environment[name] = value;
    }
    return begin_call(*communicator);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* state) {
    const std::lock_guard lock(fake_nccl_library.mutex);
    Made& made = fake_nccl_library.made[communicator];
    *state = ++made.asked < fake_nccl_library.calls_in_progress ? ncclInProgress : ncclSuccess;
    return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
    return change(communicator, [](Made& made) { made.finalized = true; });
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
    return change(communicator, [](Made& made) { made.destroyed = true; });
}
ncclResult_t ncclCommAbort(ncclComm_t /*communicator*/) {
    return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void** memory, std::size_t size) {
    const std::lock_guard lock(fake_nccl_library.mutex);
    fake_nccl_library.allocated.push_back(size);
    *memory = std::malloc(size);
    return ncclSuccess;
}
ncclResult_t ncclMemFree(void* memory) {
    const std::lock_guard lock(fake_nccl_library.mutex);
    ++fake_nccl_library.freed;
    std::free(memory);
    return ncclSuccess;
}
ncclResult_t ncclCommRegister(const ncclComm_t communicator, void* memory, std::size_t /*size*/,
                              void** registration) {
    if (fake_nccl_library.of_registering != ncclSuccess) return fake_nccl_library.of_registering;
    *registration = memory;
    return change(communicator, [](Made& made) { ++made.registered; });
}
ncclResult_t ncclCommDeregister(const ncclComm_t communicator, void* /*registration*/) {
    return change(communicator, [](Made& made) { made.deregistered += made.finalized ? 100 : 1; });
}

ncclResult_t ncclGroupStart() {
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    return ncclSuccess;
}
ncclResult_t ncclSend(const void*, std::size_t, ncclDataType_t, int, ncclComm_t communicator,
                      cudaStream_t) {
    return begin_call(communicator);
}
ncclResult_t ncclRecv(void*, std::size_t, ncclDataType_t, int, ncclComm_t communicator,
                      cudaStream_t) {
    return begin_call(communicator);
}
ncclResult_t ncclAllReduce(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t,
                           ncclComm_t communicator, cudaStream_t) {
    return begin_call(communicator);
}
ncclResult_t ncclAllGather(const void*, void*, std::size_t, ncclDataType_t, ncclComm_t communicator,
                           cudaStream_t) {
    return begin_call(communicator);
}
ncclResult_t ncclReduceScatter(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t,
                               ncclComm_t communicator, cudaStream_t) {
    return begin_call(communicator);
}
ncclResult_t ncclReduce(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, int,
                        ncclComm_t communicator, cudaStream_t) {
    return begin_call(communicator);
}
ncclResult_t ncclBroadcast(const void*, void*, std::size_t, ncclDataType_t, int,
                           ncclComm_t communicator, cudaStream_t) {
    return begin_call(communicator);
}

cudaError_t cudaSetDevice(int /*device*/) {
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
    *version = fake_nccl_library.driver;
    return cudaSuccess;
}
cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t /*error*/) {
    return "";
}
const char* cudaGetErrorString(cudaError_t /*error*/) {
    return "";
}
cudaError_t cudaMalloc(void** memory, std::size_t size) {
    *memory = std::malloc(size);
    return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
    std::free(memory);
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int /*flags*/) {
    *event = nullptr;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t /*event*/) {
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t /*event*/, cudaStream_t /*stream*/) {
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t /*event*/) {
    return cudaSuccess;
}

}  // extern "C"
