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

/// A file's bytes, read-only, brought into memory as they are touched. Any number of threads
/// may read. Of a file that is shortened meanwhile what is missing reads as zeros: whoever has
/// read asks check_whole() before the bytes are used.
class MappedFile {
public:
    /// Throws InputError if it does not exist or is no regular file, WorldError if the system
    /// refuses to map it.
    explicit MappedFile(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(MappedFile&&) noexcept;
    MappedFile& operator=(MappedFile&&) noexcept;

    const std::filesystem::path& path() const { return path_; }
    std::string_view bytes() const { return bytes_; }

    /// Throws FileCut, with the numbers, if not all that was mapped is in the file.
    void check_whole() const;
    /// What `read` makes of bytes that were whole: of those that were not it may have thought
    /// anything.
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
    std::unique_ptr<Region> region_;  ///< none if the file is empty
    std::string_view bytes_;
};

}  // namespace debubble::exec
