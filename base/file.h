#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

/// The whole file. Throws InputError if it does not exist, is not a regular file or is longer than
/// `limit` bytes; WorldError if reading fails.
std::string read_file(const std::filesystem::path& path, std::size_t limit = 256u << 20);

/// The files that this process has read by read_file, or noted as read. Results are made from them
/// and must not overwrite them (base/outputs.h). Thread-safe.
std::vector<std::filesystem::path> files_read();
void note_file_read(const std::filesystem::path& path);

/// Writes a temporary file and renames it, so that `path` holds either its old content or all of
/// the new one. Missing parent folders are made; a symbolic link stays and its file is replaced; a
/// device or a pipe is written to. Throws WorldError.
void write_file(const std::filesystem::path& path, std::string_view content);
/// Writes content that is produced in parts, in the same way.
void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream&)>& produce);

/// Throws what write_file would throw at once. Call it before long work whose results are written
/// there. Missing parent folders are made.
void check_can_write(const std::filesystem::path& path);

}  // namespace debubble
