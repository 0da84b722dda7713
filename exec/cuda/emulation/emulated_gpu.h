#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/cuda/emulation/emulated_pace.h"
#include "exec/cuda/emulation/guarded_memory.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// The work that a GPU waits for before memory is freed, as CUDA does.
class Drained {
public:
    virtual ~Drained() = default;
    virtual void drain() = 0;
};

/// A GPU whose queues are threads of this process. They run kernels, compiled as C++, and copies,
/// one after the other and at the same time as other queues. Code that forgets to let one queue
/// wait for another finds bytes that are not there yet, or are gone.
class EmulatedGpu final : public Gpu {
public:
    EmulatedGpu(const EmulatedPace& pace, int number) : pace_(pace), number_(number) {}

    std::byte* reserve(Bytes size);
    void release();
    /// The memory that a queue may touch: this rank's, or all ranks'.
    std::vector<std::shared_ptr<GuardedMemory>> memory(bool of_all);
    void failed(std::exception_ptr failure);
    void add(Drained& queue);
    void remove(Drained& queue);

    std::unique_ptr<Queue> make_queue(bool communicates) override;
    Event make_event() override;
    void destroy(Event event) noexcept override;
    bool reached(Event event) override;
    std::chrono::nanoseconds between(Event earlier, Event later) override;
    void* allocate(std::int64_t size) override;
    void free(void* memory) noexcept override;
    void* pin(std::int64_t size) override;
    void unpin(void* memory) noexcept override;
    std::int32_t number() const override { return number_; }

    EmulatedCounts counts() const;

private:
    void drain();

    EmulatedPace pace_;
    int number_;
    std::mutex mutex_;  ///< guards the three members below
    std::vector<Drained*> all_queues_;
    std::shared_ptr<GuardedMemory> memory_;
    std::exception_ptr failure_;
    std::atomic<int> queues_ = 0, events_ = 0, allocations_ = 0, pins_ = 0;
};

}  // namespace debubble::exec::cuda
