#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

/// The whole file. Throws InputError if it does not exist, is no regular file
/// or is longer than `limit` bytes; WorldError if reading fails.
std::string read_file(const std::filesystem::path& path, std::size_t limit = 256u << 20);

/// Files that this process has read so far by read_file, or noted as read: what results are made
/// from, and must not overwrite (base/outputs.h). Thread-safe.
std::vector<std::filesystem::path> files_read();
void note_file_read(const std::filesystem::path& path);

/// Writes aside and renames, so that `path` holds either its old content or
/// all of the new one. Missing parent folders are made; a symbolic link stays and
/// its file is replaced; a device or a pipe is written to. Throws WorldError.
void write_file(const std::filesystem::path& path, std::string_view content);
/// The same for content that is produced piece by piece.
void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream&)>& produce);

/// Throws what write_file would throw at once: to be asked before long work whose results go
/// there. Missing parent folders are made.
void check_can_write(const std::filesystem::path& path);

}  // namespace debubble
