#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, std::string_view what) {
    throw WorldError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

void make_parent(const fs::path& path) {
    std::error_code error;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
    if (error)
        throw WorldError(
            fmt::format("{}: cannot make its folder: {}", path.string(), error.message()));
}

void sync(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

/// Writes into a device or a pipe directly: it has no old content to keep, and renaming over it
/// would replace it by a file.
void write_through(const fs::path& path, const std::function<void(std::ostream&)>& produce) {
    std::ofstream out(path, std::ios::binary);
    if (!out) fail(path, "cannot be written");
    produce(out);
    out.close();
    if (!out) fail(path, "cannot be written");
}

/// The target of a symbolic link: the link stays, and the file that it points to changes.
fs::path linked(const fs::path& path) {
    std::error_code error;
    fs::path target = fs::weakly_canonical(path, error);
    return error ? path : target;
}

/// Paths as they were named; two names of one file do no harm.
struct FilesRead {
    std::mutex mutex;
    std::set<fs::path> paths;
};
FilesRead& record() {
    static FilesRead files;
    return files;
}

fs::path aside_of(fs::path target) {
    target += fmt::format(".debubble-tmp-{}", ::getpid());
    return target;
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t limit) {
    std::error_code error;
    if (!fs::exists(path, error)) throw InputError({{{path.string(), 0, 0}, "no such file", {}}});
    if (!fs::is_regular_file(path, error))
        throw InputError({{{path.string(), 0, 0}, "not a regular file", {}}});
    const auto size = fs::file_size(path, error);
    if (!error && size > limit)
        throw InputError({{{path.string(), 0, 0},
                           fmt::format("too long: {} bytes, the limit is {}", size, limit),
                           {}}});
    std::ifstream in(path, std::ios::binary);
    if (!in) fail(path, "cannot be opened");
    std::string content((std::istreambuf_iterator<char>(in)), {});
    if (in.bad()) fail(path, "cannot be read");
    note_file_read(path);
    return content;
}

std::vector<fs::path> files_read() {
    const std::lock_guard lock(record().mutex);
    return {record().paths.begin(), record().paths.end()};
}

void note_file_read(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::absolute(path, error);
    const std::lock_guard lock(record().mutex);
    record().paths.insert(error ? path : whole);
}

void check_can_write(const fs::path& path) {
    std::error_code unknown;
    const fs::file_type kind = fs::status(path, unknown).type();
    if (kind == fs::file_type::directory)
        throw WorldError(fmt::format("{}: is a folder", path.string()));
    if (kind != fs::file_type::regular && kind != fs::file_type::not_found) return;
    const fs::path target = fs::is_symlink(path, unknown) ? linked(path) : path;
    make_parent(target);
    const fs::path aside = aside_of(target);
    const bool possible = std::ofstream(aside, std::ios::binary | std::ios::trunc).is_open();
    if (!possible) fail(path, "cannot be written");
    fs::remove(aside, unknown);
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& produce) {
    std::error_code unknown;
    const fs::file_type kind = fs::status(path, unknown).type();
    if (kind == fs::file_type::directory)
        throw WorldError(fmt::format("{}: is a folder", path.string()));
    const bool replaceable = kind == fs::file_type::regular || kind == fs::file_type::not_found;
    if (!replaceable) return write_through(path, produce);
    const fs::path target = fs::is_symlink(path, unknown) ? linked(path) : path;
    make_parent(target);
    const fs::path aside = aside_of(target);
    try {
        std::ofstream out(aside, std::ios::binary | std::ios::trunc);
        if (!out) fail(path, "cannot be written");
        produce(out);
        out.close();
        if (!out) fail(path, "cannot be written");
        sync(aside);
        std::error_code error;
        fs::rename(aside, target, error);
        if (error)
            throw WorldError(
                fmt::format("{}: cannot be put in place: {}", path.string(), error.message()));
    } catch (...) {
        std::error_code ignored;
        fs::remove(aside, ignored);
        throw;
    }
}

void write_file(const fs::path& path, std::string_view content) {
    write_file(path, [&](std::ostream& out) {
        out.write(content.data(), static_cast<std::streamsize>(content.size()));
    });
}

}  // namespace debubble
