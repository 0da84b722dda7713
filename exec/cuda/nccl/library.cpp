#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/core/device.h"
#include "exec/cuda/driver.h"
#include "exec/cuda/nccl/calls.h"
#include "exec/cuda/nccl/setup.h"

/// The implementation by NCCL itself.
namespace debubble::exec::nccl {

namespace {

using namespace std::chrono_literals;
constexpr auto kToEnd = 10s;
constexpr std::int64_t kScratch = 256;

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess)
        throw WorldError(fmt::format("{}: {}", what, cuda::error_text(status)));
}

ncclDataType_t type_of(DataType type) {
    switch (type) {
        case DataType::Fp64: return ncclFloat64;
        case DataType::Fp32: return ncclFloat32;
        case DataType::Fp16: return ncclFloat16;
        case DataType::Bf16: return ncclBfloat16;
        case DataType::Int32: return ncclInt32;
    }
    return ncclInt8;
}
ncclRedOp_t operation_of(Reduction reduction) {
    return reduction == Reduction::Sum ? ncclSum : ncclMax;
}

ncclComm_t comm_of(Handle handle) {
    return static_cast<ncclComm_t>(handle);
}

Answer answer_of(ncclResult_t result, Handle handle) {
    if (result == ncclSuccess) return {};
    if (result == ncclInProgress) return {.in_progress = true};
    const char* detail = handle != nullptr ? ncclGetLastError(comm_of(handle)) : nullptr;
    std::string error = ncclGetErrorString(result);
    if (detail != nullptr && *detail != 0) error += fmt::format(" ({})", detail);
    return {false, std::move(error)};
}

/// Memory that NCCL shares with other GPUs and with NVSwitch, where the machine has them
/// (ncclMemAlloc); elsewhere it is cudaMalloc's.
class NcclMemory final : public DeviceMemory {
public:
    std::byte* reserve(Bytes size) override {
        void* memory = nullptr;
        const ncclResult_t result = ncclMemAlloc(&memory, static_cast<std::size_t>(size.count));
        if (result != ncclSuccess)
            throw WorldError(fmt::format("memory of the GPU by NCCL: {}, {}",
                                         ncclGetErrorString(result), ncclGetLastError(nullptr)));
        return static_cast<std::byte*>(memory);
    }
    void release(std::byte* memory) noexcept override { ncclMemFree(memory); }
};

class NcclLibrary final : public Calls {
public:
    explicit NcclLibrary(const Setup& setup) : setup_(setup), device_(setup.lanes.memory()) {
        check(cudaSetDevice(device_), "the GPU");
        check(cudaMalloc(&scratch_, kScratch), "memory of the GPU");
    }
    ~NcclLibrary() override {
        for (cudaEvent_t event : events_) cudaEventDestroy(event);
        cudaFree(scratch_);
    }
    NcclLibrary(const NcclLibrary&) = delete;
    NcclLibrary& operator=(const NcclLibrary&) = delete;

    /// Without this, the thread would have a context of its own, on the first GPU.
    void begin_thread() override { check(cudaSetDevice(device_), "the GPU"); }

    Id fresh_id() override {
        ncclUniqueId made;
        const ncclResult_t result = ncclGetUniqueId(&made);
        if (result != ncclSuccess)
            throw WorldError(fmt::format("NCCL gives no id: {}", ncclGetErrorString(result)));
        Id id;
        static_assert(sizeof id == sizeof made);
        std::memcpy(id.data(), &made, sizeof made);
        return id;
    }
    Answer init(Handle& made, int ranks, const Id& id, int rank, Purpose purpose) override {
        check(cudaSetDevice(device_), "the GPU");
        ncclUniqueId same;
        std::memcpy(&same, id.data(), sizeof same);
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        if (const int most = most_ctas(purpose); most > 0) config.maxCTAs = most;
        ncclComm_t comm = nullptr;
        const ncclResult_t result = ncclCommInitRankConfig(&comm, ranks, same, rank, &config);
        made = comm;
        return answer_of(result, made);
    }
    Answer state(Handle handle) override {
        ncclResult_t state = ncclSuccess;
        const ncclResult_t asked = ncclCommGetAsyncError(comm_of(handle), &state);
        return answer_of(asked == ncclSuccess ? state : asked, handle);
    }

    Answer send(Handle handle, ConstBuffer data, int to, DeviceLane lane) override {
        return answer_of(ncclSend(data.bytes.data(), data.elements(), type_of(data.type), to,
                                  comm_of(handle), stream(lane)),
                         handle);
    }
    Answer receive(Handle handle, Buffer data, int from, DeviceLane lane) override {
        return answer_of(ncclRecv(data.bytes.data(), data.elements(), type_of(data.type), from,
                                  comm_of(handle), stream(lane)),
                         handle);
    }
    Answer all_reduce(Handle handle, Buffer data, Reduction reduction, DeviceLane lane) override {
        return answer_of(
            ncclAllReduce(data.bytes.data(), data.bytes.data(), data.elements(), type_of(data.type),
                          operation_of(reduction), comm_of(handle), stream(lane)),
            handle);
    }
    Answer all_gather(Handle handle, ConstBuffer mine, Buffer all, DeviceLane lane) override {
        return answer_of(ncclAllGather(mine.bytes.data(), all.bytes.data(), mine.elements(),
                                       type_of(mine.type), comm_of(handle), stream(lane)),
                         handle);
    }
    Answer reduce_scatter(Handle handle, ConstBuffer all, Buffer mine, Reduction reduction,
                          DeviceLane lane) override {
        return answer_of(ncclReduceScatter(all.bytes.data(), mine.bytes.data(), mine.elements(),
                                           type_of(mine.type), operation_of(reduction),
                                           comm_of(handle), stream(lane)),
                         handle);
    }
    /// A copy within the GPU is one of the messages.
    Answer all_to_all(Handle handle, std::span<const ConstBuffer> out, std::span<const Buffer> in,
                      DeviceLane lane) override {
        return together(
            handle,
            [&](int peer) {
                const auto r = static_cast<std::size_t>(peer);
                const ncclResult_t sent =
                    out[r].bytes.empty()
                        ? ncclSuccess
                        : ncclSend(out[r].bytes.data(), out[r].elements(), type_of(out[r].type),
                                   peer, comm_of(handle), stream(lane));
                if (failed(sent) || in[r].bytes.empty()) return sent;
                return ncclRecv(in[r].bytes.data(), in[r].elements(), type_of(in[r].type), peer,
                                comm_of(handle), stream(lane));
            },
            static_cast<int>(out.size()));
    }
    Answer reduce_scatter_uneven(Handle handle, int rank, std::span<const ConstBuffer> chunks,
                                 Buffer mine, Reduction reduction, DeviceLane lane) override {
        return together(
            handle,
            [&](int root) {
                const ConstBuffer& chunk = chunks[root];
                if (chunk.bytes.empty()) return ncclSuccess;
                return ncclReduce(chunk.bytes.data(), root == rank ? mine.bytes.data() : nullptr,
                                  chunk.elements(), type_of(chunk.type), operation_of(reduction),
                                  root, comm_of(handle), stream(lane));
            },
            static_cast<int>(chunks.size()));
    }
    Answer broadcast(Handle handle, Buffer data, int root, DeviceLane lane) override {
        return answer_of(ncclBroadcast(data.bytes.data(), data.bytes.data(), data.elements(),
                                       type_of(data.type), root, comm_of(handle), stream(lane)),
                         handle);
    }

    std::shared_ptr<DeviceMemory> memory() override { return std::make_shared<NcclMemory>(); }
    Answer register_range(Handle handle, std::span<std::byte> range) override {
        void* registration = nullptr;
        const ncclResult_t result =
            ncclCommRegister(comm_of(handle), range.data(), range.size(), &registration);
        if (registration != nullptr) registrations_[handle] = registration;
        return answer_of(result, handle);
    }

    Point point(DeviceLane lane) override {
        if (free_.empty()) {
            cudaEvent_t event = nullptr;
            check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
            free_.push_back(static_cast<Point>(events_.size()));
            events_.push_back(event);
        }
        const Point point = free_.back();
        free_.pop_back();
        check(cudaEventRecord(events_[point], stream(lane)), "an event");
        return point;
    }
    bool passed(Point point) override {
        const cudaError_t status = cudaEventQuery(events_[point]);
        if (status == cudaErrorNotReady) {
            cudaGetLastError();
            return false;
        }
        check(status, "communication on the GPU");
        free_.push_back(point);
        return true;
    }
    Buffer scratch() override { return {{static_cast<std::byte*>(scratch_), 4}, DataType::Fp32}; }

    void destroy(Handle handle) noexcept override {
        if (const auto known = registrations_.find(handle); known != registrations_.end())
            ncclCommDeregister(comm_of(handle), known->second);
        Answer answer = answer_of(ncclCommFinalize(comm_of(handle)), handle);
        const auto deadline = std::chrono::steady_clock::now() + kToEnd;
        while (answer.in_progress && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(1ms);
            answer = state(handle);
        }
        if (answer.in_progress || answer.error) return abort({&handle, 1});
        ncclCommDestroy(comm_of(handle));
    }
    /// Each abort has a thread: ncclCommAbort tells the kernels of one communicator to leave, then
    /// frees its resources, which may wait for kernels of communicators that have not been aborted
    /// yet.
    void abort(std::span<const Handle> handles) noexcept override {
        std::vector<std::thread> threads;
        for (const Handle handle : handles)
            threads.emplace_back([device = device_, comm = comm_of(handle)] {
                cudaSetDevice(device);
                ncclCommAbort(comm);
            });
        for (std::thread& thread : threads) thread.join();
    }

private:
    static bool failed(ncclResult_t result) {
        return result != ncclSuccess && result != ncclInProgress;
    }
    /// Calls `call` for every rank of a communicator as one operation of NCCL.
    template <class Call>
    static Answer together(Handle handle, const Call& call, int ranks) {
        ncclResult_t first = ncclGroupStart();
        for (int rank = 0; rank < ranks && !failed(first); ++rank)
            if (const ncclResult_t result = call(rank); failed(result)) first = result;
        const ncclResult_t ended = ncclGroupEnd();
        return answer_of(failed(first) ? first : ended, handle);
    }
    cudaStream_t stream(DeviceLane lane) {
        return static_cast<cudaStream_t>(setup_.stream_of(setup_.lanes, lane));
    }

    const Setup setup_;
    int device_;
    void* scratch_ = nullptr;
    std::vector<cudaEvent_t> events_;
    std::vector<Point> free_;
    std::map<Handle, void*> registrations_;
};

/// Sets variables before NCCL reads its environment, which it does once. Variables that the user
/// has set stay.
void set_environment(bool some_share_a_gpu, bool one_host) {
    // One thread issues work to many communicators: their kernels start in that order everywhere.
    ::setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1", 0);
    // Groups connect when they are made, not in the step that first needs an algorithm.
    ::setenv("NCCL_RUNTIME_CONNECT", "0", 0);
    if (!some_share_a_gpu) return;
    // NCCL refuses two ranks on one GPU of one host, so each process pretends to be a host of its
    // own, and everything that needs common memory or a fabric is off. This is correct, and slow.
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    ::setenv("NCCL_HOSTID", fmt::format("{}-{}", name, ::getpid()).c_str(), 0);
    if (one_host) ::setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    for (const auto& [variable, value] : {std::pair{"NCCL_NET", "Socket"},
                                          {"NCCL_IB_DISABLE", "1"},
                                          {"NCCL_MNNVL_ENABLE", "0"},
                                          {"NCCL_NVLS_ENABLE", "0"},
                                          {"NCCL_MAX_NCHANNELS", "2"}})
        ::setenv(variable, value, 0);
}

}  // namespace
}  // namespace debubble::exec::nccl

using debubble::exec::nccl::Setup;

extern "C" __attribute__((visibility("default"))) void debubble_nccl_versions(
    debubble::exec::nccl::Versions& found) {
    if (ncclGetVersion(&found.library) != ncclSuccess) found.library = 0;
    if (cudaDriverGetVersion(&found.driver) != cudaSuccess) found.driver = 0;
}

extern "C" __attribute__((visibility("default"))) debubble::exec::Communicator*
debubble_nccl_connect(const Setup& setup) {
    using namespace debubble::exec::nccl;
    set_environment(setup.some_share_a_gpu, setup.one_host);
    return connect(setup.host, setup.lanes, std::make_unique<NcclLibrary>(setup), setup.plan,
                   setup.patience)
        .release();
}
