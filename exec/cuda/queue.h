#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "exec/cuda/kernels/operands.h"

struct CUevent_st;

/// A GPU as a rank sees it: queues that work concurrently, and events between them. The
/// implementation is CUDA (cuda_gpu.cpp) or its emulation.
namespace debubble::exec::cuda {

using Event = CUevent_st*;

class Gpu;

/// A queue of work, which is done asynchronously and in order. Sizes are in bytes. Throws
/// WorldError, for failures of earlier work too.
class Queue {
public:
    explicit Queue(Gpu& gpu) : gpu_(gpu) {}
    virtual ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    virtual Stream stream() = 0;

    void* allocate(std::int64_t size);
    void free(void* memory) noexcept;  ///< memory that no work in the queue uses
    /// Frees memory that earlier work may still use; it happens between steps.
    void free_later(void* memory);
    /// Copies within the device's memory, or between it and the host's. The host's source may
    /// change once this returns, unless it is pinned; the host's target is written once finish()
    /// returns.
    virtual void copy(const void* from, void* to, std::int64_t size) = 0;
    virtual void fill_zero(void* memory, std::int64_t size) = 0;

    /// Records the event: it is reached once all work asked for before is done. Its earlier
    /// recording is forgotten, except by the queues that wait for it.
    virtual void record(Event event) = 0;
    /// Work that is asked for after this call waits for the last recording of the event, on any
    /// queue.
    virtual void wait(Event event) = 0;
    /// Waits for all work. Throws DeviceStalled as Gpu::await does.
    void finish();

    Gpu& gpu() { return gpu_; }

private:
    Gpu& gpu_;
    Event finished_ = nullptr;
};

class Gpu {
public:
    virtual ~Gpu() = default;

    /// Makes a queue. Its work may touch this rank's memory or, if it communicates, all ranks'.
    virtual std::unique_ptr<Queue> make_queue(bool communicates) = 0;

    virtual Event make_event() = 0;
    virtual void destroy(Event event) noexcept = 0;
    virtual bool reached(Event event) = 0;  ///< throws WorldError for a failure on the GPU
    virtual std::chrono::nanoseconds between(Event earlier, Event later) = 0;

    virtual void* allocate(std::int64_t size) = 0;
    virtual void free(void* memory) noexcept = 0;
    virtual void* pin(std::int64_t size) = 0;  ///< memory of the host
    virtual void unpin(void* memory) noexcept = 0;
    /// A number that is equal for ranks of one process which reach each other's memory.
    virtual std::int32_t number() const = 0;

    /// Frees the retired memory. Called while nothing is in flight: freeing may wait for all work
    /// of the GPU, and so for a receive of NCCL whose sender waits for this rank.
    void free_retired() noexcept;

    /// Opens a range around the thread's calls: profilers show it under this name.
    virtual void open_range(const char* /*name*/) {}
    virtual void close_range() {}

    /// Waits until the event is reached. Throws DeviceStalled if nothing was done for the patience;
    /// a wait may last longer, since the host may be a whole step ahead.
    void await(Event event);

    std::chrono::nanoseconds patience = std::chrono::minutes(5);
    /// Returns a number that changes while there is progress; unset if progress cannot be seen.
    std::function<std::size_t()> progress;

private:
    friend class Queue;
    std::vector<void*> retired_;
};

/// Device memory of the size that the largest user needs, starting with that of small sums. An
/// operator's content is gone once the next operator asks for the memory.
class Scratch {
public:
    explicit Scratch(Queue& queue) : queue_(queue) {}
    ~Scratch() { queue_.free(memory_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    void* bytes(std::int64_t size) {
        if (size <= size_) return memory_;
        size_ = std::max(size, kLeast);
        queue_.free_later(std::exchange(memory_, queue_.allocate(size_)));
        return memory_;
    }
    float* floats(std::int64_t count) { return static_cast<float*>(bytes(count * 4)); }

private:
    static constexpr std::int64_t kLeast = std::int64_t{1} << 20;

    Queue& queue_;
    void* memory_ = nullptr;
    std::int64_t size_ = 0;
};

}  // namespace debubble::exec::cuda
