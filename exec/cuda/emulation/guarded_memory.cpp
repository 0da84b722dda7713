#include "exec/cuda/emulation/emulated_gpu.h"

#include <sys/mman.h>

#include <utility>

#include "base/diagnostic.h"
#include "exec/cuda/emulation/races.h"

namespace debubble::exec::cuda {

namespace {

std::mutex registry_mutex;
std::vector<std::weak_ptr<GuardedMemory>> registry;

}  // namespace

GuardedMemory::GuardedMemory(Bytes size) : size_(static_cast<std::size_t>(size.count)) {
    void* range =
        ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) throw WorldError("no addresses for an emulated device");
    begin_ = static_cast<std::byte*>(range);
}

GuardedMemory::~GuardedMemory() {
    ::munmap(begin_, size_);
}

void GuardedMemory::open() {
    const races::Unseen unseen;
    const std::lock_guard lock(mutex_);
    if (opened_++ == 0) protect(PROT_READ | PROT_WRITE);
}

void GuardedMemory::close() {
    const races::Unseen unseen;
    const std::lock_guard lock(mutex_);
    if (--opened_ == 0) protect(PROT_NONE);
}

void GuardedMemory::protect(int how) {
    ::mprotect(begin_, size_, how);
}

Opened::Opened(std::vector<std::shared_ptr<GuardedMemory>> memory) : memory_(std::move(memory)) {
    for (const auto& each : memory_) each->open();
}

Opened::~Opened() {
    for (const auto& each : memory_) each->close();
}

void announce(const std::shared_ptr<GuardedMemory>& memory) {
    const std::lock_guard lock(registry_mutex);
    std::erase_if(registry, [](const auto& each) { return each.expired(); });
    registry.push_back(memory);
}

std::vector<std::shared_ptr<GuardedMemory>> all_guarded_memory() {
    const std::lock_guard lock(registry_mutex);
    std::vector<std::shared_ptr<GuardedMemory>> all;
    for (const auto& each : registry)
        if (auto memory = each.lock()) all.push_back(std::move(memory));
    return all;
}

}  // namespace debubble::exec::cuda
