#pragma once

#include <cstddef>

namespace debubble::exec {

/// The bytes of a file in this process's memory, read-only. Where the system cannot bring a page,
/// since the file has become shorter or its disk fails, zeros are read instead of the process dying
/// by SIGBUS, and the mapping remembers it.
class GuardedMapping {
public:
    /// Throws std::system_error. Precondition: `size` is not 0.
    GuardedMapping(int file, std::size_t size);
    ~GuardedMapping();
    GuardedMapping(const GuardedMapping&) = delete;
    GuardedMapping& operator=(const GuardedMapping&) = delete;

    const char* data() const { return begin_; }
    std::size_t size() const { return size_; }
    /// Whether zeros have taken the place of bytes that could not be read.
    bool has_zeros() const;

    struct Entry;

private:
    const char* begin_;
    std::size_t size_;
    Entry* entry_;
};

}  // namespace debubble::exec
