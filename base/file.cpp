#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
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
    return content;
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& produce) {
    make_parent(path);
    fs::path aside = path;
    aside += fmt::format(".debubble-tmp-{}", ::getpid());
    try {
        std::ofstream out(aside, std::ios::binary | std::ios::trunc);
        if (!out) fail(path, "cannot be written");
        produce(out);
        out.close();
        if (!out) fail(path, "cannot be written");
        sync(aside);
        std::error_code error;
        fs::rename(aside, path, error);
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
