#include "exec/io/mapped_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

WorldError unreadable(const fs::path& path, int error) {
    return WorldError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(error)));
}

/// A file that stays open as long as it is mapped.
struct Descriptor {
    int number;

    explicit Descriptor(const fs::path& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (number < 0) throw unreadable(path, errno);
    }
    ~Descriptor() { ::close(number); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    /// The file's size in bytes; nothing if the system does not tell.
    std::int64_t size() const {
        struct stat status {};
        return ::fstat(number, &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
    }
};

}  // namespace

struct MappedFile::Region {
    Descriptor file;
    GuardedMapping mapping;

    Region(const fs::path& path, std::size_t size) : file(path), mapping(file.number, size) {}
};

MappedFile::MappedFile(const fs::path& path) : path_(path) {
    std::error_code error;
    if (!fs::exists(path, error)) throw bad_file(path, "no such file");
    if (!fs::is_regular_file(path, error)) throw bad_file(path, "not a regular file");
    const std::uintmax_t size = fs::file_size(path, error);
    if (size == 0) return;  // no bytes cannot be mapped
    try {
        region_ = std::make_unique<Region>(path, size);
    } catch (const std::system_error& problem) {
        throw unreadable(path, problem.code().value());
    }
    bytes_ = {region_->mapping.data(), region_->mapping.size()};
}

MappedFile::~MappedFile() = default;
MappedFile::MappedFile(MappedFile&&) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&&) noexcept = default;

void MappedFile::check_whole() const {
    if (!region_) return;
    const std::int64_t size = region_->file.size();
    if (size < static_cast<std::int64_t>(bytes_.size()))
        throw FileCut(fmt::format("{}: was cut to {} bytes while it was read; it had {}",
                                  path_.string(), size, bytes_.size()));
    if (region_->mapping.has_zeros())
        throw FileCut(
            fmt::format("{}: cannot be read: the system could not bring all of its {} "
                        "bytes",
                        path_.string(), bytes_.size()));
}

}  // namespace debubble::exec
