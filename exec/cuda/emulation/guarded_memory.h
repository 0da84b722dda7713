#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/units.h"

namespace debubble::exec::cuda {

/// The memory of an emulated device: it can be touched while it is open, and touching it is a
/// fault at all other times.
class GuardedMemory {
public:
    explicit GuardedMemory(Bytes size);  ///< throws WorldError
    ~GuardedMemory();
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    std::byte* begin() const { return begin_; }
    void open();  ///< until it was closed as often
    void close();

private:
    void protect(int how);

    std::byte* begin_ = nullptr;
    std::size_t size_;
    std::mutex mutex_;
    int opened_ = 0;
};

/// Ranges of memory, open while this lives.
class Opened {
public:
    explicit Opened(std::vector<std::shared_ptr<GuardedMemory>> memory);
    ~Opened();
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

private:
    std::vector<std::shared_ptr<GuardedMemory>> memory_;
};

/// Of this process's emulated devices, all that are there.
void announce(const std::shared_ptr<GuardedMemory>& memory);
std::vector<std::shared_ptr<GuardedMemory>> all_guarded_memory();

}  // namespace debubble::exec::cuda
