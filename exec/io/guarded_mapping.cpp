#include "exec/io/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <system_error>

namespace debubble::exec {

/// The facts of a mapping that the signal handler knows, which must not wait for any thread. An
/// abandoned entry is reused by a later mapping; none is ever freed.
struct GuardedMapping::Entry {
    std::atomic<std::uintptr_t> begin{0};  ///< address of the mapping; 0: the entry is free
    std::atomic<std::uintptr_t> end{0};
    std::atomic<bool> has_zeros{false};
    std::atomic<bool> taken{true};
    Entry* next = nullptr;
};

namespace {

using Entry = GuardedMapping::Entry;

std::atomic<Entry*> all_entries{nullptr};
struct sigaction before {};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// Maps zeros over the page. Returns false if the page belongs to no mapping.
bool lay_zeros(std::uintptr_t address) {
    for (Entry* entry = all_entries.load(); entry != nullptr; entry = entry->next) {
        const std::uintptr_t begin = entry->begin.load();
        if (begin == 0 || address < begin || address >= entry->end.load()) continue;
        const std::size_t size = ::sysconf(_SC_PAGESIZE);
        void* page = reinterpret_cast<void*>(address / size * size);
        entry->has_zeros.store(true);
        return ::mmap(page, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
               MAP_FAILED;
    }
    return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
    const int error = errno;
    const bool laid = lay_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr));
    errno = error;
    if (laid) return;
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
        before.sa_sigaction(signal, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(signal);
    else
        ::signal(signal, SIG_DFL);  // the access is repeated, and ends the process
}

void handle_bus_errors() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action {};
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(SIGBUS, &action, &before);
    });
}

Entry* take_entry() {
    for (Entry* entry = all_entries.load(); entry != nullptr; entry = entry->next) {
        bool taken = false;
        if (entry->taken.compare_exchange_strong(taken, true)) return entry;
    }
    auto* entry = new Entry;  // NOLINT(cppcoreguidelines-owning-memory): never freed
    entry->next = all_entries.load();
    while (!all_entries.compare_exchange_weak(entry->next, entry)) continue;
    return entry;
}

}  // namespace

GuardedMapping::GuardedMapping(int file, std::size_t size) : size_(size) {
    handle_bus_errors();
    void* range = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (range == MAP_FAILED) throw std::system_error(errno, std::generic_category());
    begin_ = static_cast<const char*>(range);
    entry_ = take_entry();
    entry_->has_zeros.store(false);
    const auto begin = reinterpret_cast<std::uintptr_t>(range);
    entry_->end.store(begin + size);
    entry_->begin.store(begin);
}

GuardedMapping::~GuardedMapping() {
    entry_->begin.store(0);
    entry_->taken.store(false);
    ::munmap(const_cast<char*>(begin_), size_);
}

bool GuardedMapping::has_zeros() const {
    return entry_->has_zeros.load();
}

}  // namespace debubble::exec
