#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "base/units.h"
#include "exec/core/device.h"
#include "exec/cuda/queue.h"

/// A GPU whose queues are threads of this process, for tests of everything but CUDA itself.
namespace debubble::exec::cuda {

/// The delay of queues before each work item. A slow compute lane exposes code that does
/// not wait for kernels, slow other lanes expose code that does not wait for communications.
struct EmulatedDelays {
    std::chrono::microseconds compute{};
    std::chrono::microseconds others{};
};

/// The numbers of objects that the emulated GPU was asked to make so far.
struct EmulatedCounts {
    int queues = 0;
    int events = 0;
    int allocations = 0;
    int pins = 0;
    int kinds_of_products = 0;  ///< for each of them cuBLASLt would choose a kernel
    friend bool operator==(const EmulatedCounts&, const EmulatedCounts&) = default;
};

/// The CUDA back end on an emulated GPU, for tests: the same kernels and operators, GEMMs by a
/// plain loop, lanes as threads. Its memory can be touched only while kernels and copies run, and
/// other accesses are faults, so a test that passes proves that the rest of the executor leaves a
/// device's memory alone. `room` is the arena's size; ranks on GPUs of other numbers do not reach
/// its memory.
std::unique_ptr<Device> make_emulated_device(Bytes room, const EmulatedDelays& delays = {},
                                             int number = 0);

EmulatedCounts counts_of(const Device& emulated);

/// The memory of an emulated device: it can be touched while it is open, and an access at any other
/// time is a fault.
class GuardedMemory {
public:
    explicit GuardedMemory(Bytes size);  ///< throws WorldError
    ~GuardedMemory();
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    std::byte* begin() const { return begin_; }
    void open();  ///< it stays open until it is closed as often
    void close();

private:
    void protect(int how);

    std::byte* begin_ = nullptr;
    std::size_t size_;
    std::mutex mutex_;
    int opened_ = 0;
};

/// Ranges of memory that are open while this object lives.
class Opened {
public:
    explicit Opened(std::vector<std::shared_ptr<GuardedMemory>> memory);
    ~Opened();
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

private:
    std::vector<std::shared_ptr<GuardedMemory>> memory_;
};

/// Adds a memory to the list of this process's emulated devices.
void announce(const std::shared_ptr<GuardedMemory>& memory);
std::vector<std::shared_ptr<GuardedMemory>> all_guarded_memory();

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
    EmulatedGpu(const EmulatedDelays& delays, int number) : delays_(delays), number_(number) {}

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

    EmulatedDelays delays_;
    int number_;
    std::mutex mutex_;  ///< guards the three members below
    std::vector<Drained*> all_queues_;
    std::shared_ptr<GuardedMemory> memory_;
    std::exception_ptr failure_;
    std::atomic<int> queues_ = 0, events_ = 0, allocations_ = 0, pins_ = 0;
};

}  // namespace debubble::exec::cuda
