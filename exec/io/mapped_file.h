#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/diagnostic.h"

/// Files that are read as a whole: mapped into memory, and refused with a sentence where they are
/// wrong.
namespace debubble::exec {

/// The error to throw when a file as a whole, or a place in it that has no line, is wrong:
/// "train.bin: error: ...". The sentence gives the numbers.
inline InputError bad_file(const std::filesystem::path& file, std::string sentence) {
    return InputError({{{file.string(), 0, 0}, std::move(sentence), {}}});
}

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

/// A mapped file has become shorter, or cannot be read any more.
class FileCut : public WorldError {
    using WorldError::WorldError;
};

/// The bytes of a file, read-only, brought into memory as they are touched. Any number of threads
/// may read. If the file is shortened meanwhile, the missing bytes read as zeros: a reader calls
/// check_whole() before it uses the bytes.
class MappedFile {
public:
    /// Throws InputError if the file does not exist or is not a regular file, WorldError if the
    /// system refuses to map it.
    explicit MappedFile(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(MappedFile&&) noexcept;
    MappedFile& operator=(MappedFile&&) noexcept;

    const std::filesystem::path& path() const { return path_; }
    std::string_view bytes() const { return bytes_; }

    /// Throws FileCut, with the numbers, if some of the mapped bytes are no longer in the file.
    void check_whole() const;
    /// Returns the result of `read` if the bytes were whole meanwhile. If they were not, `read` may
    /// have found anything in them, and FileCut is thrown.
    template <class Read>
    auto whole(const Read& read) const {
        try {
            if constexpr (std::is_void_v<decltype(read(bytes_))>) {
                read(bytes_);
                check_whole();
            } else {
                auto made = read(bytes_);
                check_whole();
                return made;
            }
        } catch (const InputError&) {
            check_whole();
            throw;
        }
    }

private:
    struct Region;
    std::filesystem::path path_;
    std::unique_ptr<Region> region_;  ///< unset if the file is empty
    std::string_view bytes_;
};

}  // namespace debubble::exec
