#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/diagnostic.h"

namespace debubble::exec {

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

    /// Throws FileCut, with the numbers, if some of what was mapped is no longer in the file.
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
