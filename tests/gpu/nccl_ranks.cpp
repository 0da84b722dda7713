#include <cuda_runtime.h>
#include <nccl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

/// A question to a GPU: can several ranks of NCCL share it, if each process says that it is another
/// host (NCCL_HOSTID)? Three processes sum over an all-reduce and pass messages round. Exits with 0
/// if all numbers are right; every wait has a deadline.
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRanks = 3;
constexpr std::size_t kElements = 1 << 20;
constexpr auto kPatience = std::chrono::seconds(60);

/// The memory that the processes share, mapped before they part.
struct Board {
    std::atomic<bool> id_is_there{false};
    std::atomic<int> through{0};  ///< ranks: none leaves while another may still hear from it
    ncclUniqueId id;
};

[[noreturn]] void fail(int rank, const std::string& what) {
    std::printf("rank %d: %s\n", rank, what.c_str());
    std::fflush(stdout);
    std::_Exit(1);
}
void check(int rank, cudaError_t status, const char* what) {
    if (status != cudaSuccess) fail(rank, std::string(what) + ": " + cudaGetErrorString(status));
}

/// A communicator that does not block says that it is in progress until it is not.
void settle(int rank, ncclComm_t world, ncclResult_t status, const char* what) {
    const auto deadline = Clock::now() + kPatience;
    while (status == ncclInProgress) {
        if (Clock::now() > deadline) fail(rank, std::string(what) + ": nothing for 60 s");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const ncclResult_t asked = ncclCommGetAsyncError(world, &status);
        if (asked != ncclSuccess) status = asked;
    }
    if (status != ncclSuccess) fail(rank, std::string(what) + ": " + ncclGetErrorString(status));
}

void finish(int rank, ncclComm_t world, cudaStream_t stream, const char* what) {
    const auto deadline = Clock::now() + kPatience;
    for (;;) {
        const cudaError_t status = cudaStreamQuery(stream);
        if (status == cudaSuccess) return;
        if (status != cudaErrorNotReady) check(rank, status, what);
        ncclResult_t error = ncclSuccess;
        ncclCommGetAsyncError(world, &error);
        if (error != ncclSuccess && error != ncclInProgress)
            fail(rank, std::string(what) + ": " + ncclGetErrorString(error));
        if (Clock::now() > deadline) fail(rank, std::string(what) + ": not done after 60 s");
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

/// All elements of the device's buffer have this value.
void expect(int rank, const float* device, float value, const char* what) {
    std::vector<float> host(kElements);
    check(rank, cudaMemcpy(host.data(), device, kElements * sizeof(float), cudaMemcpyDeviceToHost),
          what);
    for (const float element : host)
        if (element != value) fail(rank, std::string(what) + " gave a wrong number");
}

int run_rank(int rank, Board& board) {
    ::setenv("NCCL_HOSTID", ("rank" + std::to_string(rank)).c_str(), 1);
    if (rank == 0) {
        if (ncclGetUniqueId(&board.id) != ncclSuccess) fail(rank, "no id");
        board.id_is_there = true;
    }
    const auto deadline = Clock::now() + kPatience;
    while (!board.id_is_there) {
        if (Clock::now() > deadline) fail(rank, "rank 0 gives no id");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    check(rank, cudaSetDevice(0), "the GPU");
    cudaStream_t stream = nullptr;
    check(rank, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    config.maxCTAs = 2;
    ncclComm_t world = nullptr;
    const ncclResult_t asked = ncclCommInitRankConfig(&world, kRanks, board.id, rank, &config);
    settle(rank, world, asked, "to meet the others");

    float *mine = nullptr, *other = nullptr;
    check(rank, cudaMalloc(&mine, kElements * sizeof(float)), "memory");
    check(rank, cudaMalloc(&other, kElements * sizeof(float)), "memory");
    const std::vector<float> host(kElements, static_cast<float>(rank + 1));
    check(rank, cudaMemcpy(mine, host.data(), kElements * sizeof(float), cudaMemcpyHostToDevice),
          "copy");

    ncclGroupStart();
    ncclSend(mine, kElements, ncclFloat, (rank + 1) % kRanks, world, stream);
    ncclRecv(other, kElements, ncclFloat, (rank + kRanks - 1) % kRanks, world, stream);
    settle(rank, world, ncclGroupEnd(), "to pass messages");
    finish(rank, world, stream, "messages");
    expect(rank, other, static_cast<float>((rank + kRanks - 1) % kRanks + 1), "a message");

    settle(rank, world, ncclAllReduce(mine, mine, kElements, ncclFloat, ncclSum, world, stream),
           "to sum");
    finish(rank, world, stream, "an all-reduce");
    expect(rank, mine, kRanks * (kRanks + 1) / 2.0F, "an all-reduce");
    const auto begin = Clock::now();
    for (int i = 0; i < 10; ++i) {
        settle(rank, world,
               ncclAllReduce(mine, other, kElements, ncclFloat, ncclSum, world, stream), "to sum");
        finish(rank, world, stream, "an all-reduce");
    }
    if (rank == 0)
        std::printf("%d ranks on one GPU, an all-reduce of 4 MiB: %.2f ms\n", kRanks,
                    std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / 10);
    std::fflush(stdout);
    for (++board.through; board.through < kRanks;) {
        if (Clock::now() > deadline + kPatience) fail(rank, "another rank does not end");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return 0;
}

}  // namespace

int main() {
    for (const auto& [name, value] :
         std::vector<std::pair<const char*, const char*>>{{"NCCL_SOCKET_IFNAME", "lo"},
                                                          {"NCCL_NET", "Socket"},
                                                          {"NCCL_IB_DISABLE", "1"},
                                                          {"NCCL_MNNVL_ENABLE", "0"},
                                                          {"NCCL_NVLS_ENABLE", "0"}})
        ::setenv(name, value, 0);
    void* shared =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    Board& board = *new (shared) Board;
    for (int rank = 0; rank < kRanks; ++rank)
        if (::fork() == 0) std::_Exit(run_rank(rank, board));
    int worst = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
        int status = 0;
        ::wait(&status);
        worst |= status;
    }
    return worst == 0 ? 0 : 1;
}
