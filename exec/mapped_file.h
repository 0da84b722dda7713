#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace debubble::exec {

/// A file's bytes, read-only, brought into memory as they are touched. Any number of threads
/// may read. The file must not be shortened meanwhile.
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

private:
    struct Region;
    std::filesystem::path path_;
    std::unique_ptr<Region> region_;  ///< none if the file is empty
    std::string_view bytes_;
};

}  // namespace debubble::exec
