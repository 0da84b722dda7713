#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace debubble::exec {

/// A file that is written under another name and appears under its own only when it is whole and on
/// the disk: after a crash there is all of it or nothing. Throws WorldError.
class DurableFile {
public:
    explicit DurableFile(std::filesystem::path path);
    ~DurableFile();  ///< removes a file that was not put in place
    DurableFile(const DurableFile&) = delete;
    DurableFile& operator=(const DurableFile&) = delete;

    void append(std::string_view bytes);
    /// Writes over bytes that were appended before.
    void overwrite(std::int64_t offset, std::string_view bytes);
    /// Renames the file to `path`, replacing what was there. The file and its folder are synced.
    void put_in_place(const std::filesystem::path& path);
    void put_in_place() { put_in_place(path_); }

private:
    void write(std::int64_t offset, std::string_view bytes);

    std::filesystem::path path_;
    std::filesystem::path aside_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;
};

/// Syncs a folder, so that names added to it or removed from it outlast a crash.
void sync_folder(const std::filesystem::path& folder);

void write_durably(const std::filesystem::path& path, std::string_view content);

}  // namespace debubble::exec
