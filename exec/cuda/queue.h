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

/// A GPU as a rank has it: lines of work beside each other, and events between them. What is
/// behind it is CUDA (cuda_gpu.cpp) or its emulation.
namespace debubble::exec::cuda {

using Event = CUevent_st*;

class Gpu;

/// A line of work: what is asked of it happens in order, later. Sizes are in bytes. Throws
/// WorldError, of earlier work too.
class Queue {
public:
    explicit Queue(Gpu& gpu) : gpu_(gpu) {}
    virtual ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    virtual Stream stream() = 0;

    void* allocate(std::int64_t size);
    void free(void* memory) noexcept;  ///< of which nothing that was asked for knows
    /// The same of memory that earlier work may still use; between steps.
    void free_later(void* memory);
    /// Within the device's memory, or between it and the host's. The host's may change once this
    /// returns, unless it is pinned; it has been written once finish() returns.
    virtual void copy(const void* from, void* to, std::int64_t size) = 0;
    virtual void fill_zero(void* memory, std::int64_t size) = 0;

    /// The event is reached once all that was asked before is done; what it was before is
    /// forgotten, but by those who wait for that.
    virtual void record(Event event) = 0;
    /// What is asked from now on waits for the event as it was recorded last, on any queue.
    virtual void wait(Event event) = 0;
    /// Throws DeviceStalled as Gpu::await does.
    void finish();

    Gpu& gpu() { return gpu_; }

private:
    Gpu& gpu_;
    Event finished_ = nullptr;
};

class Gpu {
public:
    virtual ~Gpu() = default;

    /// Its work may touch this rank's memory, or, of a queue that communicates, all ranks'.
    virtual std::unique_ptr<Queue> make_queue(bool communicates) = 0;

    virtual Event make_event() = 0;
    virtual void destroy(Event event) noexcept = 0;
    virtual bool reached(Event event) = 0;  ///< throws WorldError of what failed on the GPU
    virtual std::chrono::nanoseconds between(Event earlier, Event later) = 0;

    virtual void* allocate(std::int64_t size) = 0;
    virtual void free(void* memory) noexcept = 0;
    virtual void* pin(std::int64_t size) = 0;  ///< memory of the host
    virtual void unpin(void* memory) noexcept = 0;
    /// Ranks of one process reach each other's memory where it is the same.
    virtual std::int32_t number() const = 0;

    /// While nothing is under way: freeing may wait for all of the GPU, and so for a receive of
    /// NCCL whose sender waits for this rank.
    void free_retired() noexcept;

    /// Around what the thread asks for: profilers show it under this name.
    virtual void open_range(const char* /*name*/) {}
    virtual void close_range() {}

    /// Until the event is reached. Throws DeviceStalled if for the patience nothing was done: the
    /// host may run a whole step ahead, and all of it may last longer.
    void await(Event event);

    std::chrono::nanoseconds patience = std::chrono::minutes(5);
    /// Some number that changes while there is progress; without it there is none to see.
    std::function<std::size_t()> progress;

private:
    friend class Queue;
    std::vector<void*> retired_;
};

/// Device memory that grows with who asks most, from what small sums take. What an operator keeps
/// there is gone once the next one asks.
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
