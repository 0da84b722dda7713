#pragma once

#include <cstdint>
#include <memory>

#include "exec/cuda/kernels/operands.h"

namespace debubble::exec::cuda {

/// A rank's line of work on a device: what is asked of it happens in order, later. Sizes are in
/// bytes. Throws WorldError, of earlier work too.
class Queue {
public:
    virtual ~Queue() = default;
    virtual Stream stream() = 0;

    virtual void* allocate(std::int64_t size) = 0;
    virtual void free(void* memory) noexcept = 0;  ///< of which nothing that was asked for knows
    /// Within the device's memory, or between it and the host's. The host's may change once this
    /// returns; it has been written once finish() returns.
    virtual void copy(const void* from, void* to, std::int64_t size) = 0;
    virtual void fill_zero(void* memory, std::int64_t size) = 0;
    virtual void finish() = 0;
};

/// Device memory that grows with who asks most. What an operator keeps there is gone once the
/// next one asks.
class Scratch {
public:
    explicit Scratch(Queue& queue) : queue_(queue) {}
    ~Scratch() { queue_.free(memory_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    void* bytes(std::int64_t size) {
        if (size <= size_) return memory_;
        queue_.finish();
        queue_.free(memory_);
        memory_ = nullptr;
        memory_ = queue_.allocate(size);
        size_ = size;
        return memory_;
    }
    float* floats(std::int64_t count) { return static_cast<float*>(bytes(count * 4)); }

private:
    Queue& queue_;
    void* memory_ = nullptr;
    std::int64_t size_ = 0;
};

}  // namespace debubble::exec::cuda
