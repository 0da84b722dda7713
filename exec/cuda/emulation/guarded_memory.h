#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/units.h"

namespace debubble::exec::cuda {

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

}  // namespace debubble::exec::cuda
