#include "exec/io/checkpoint/durable_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, std::string_view what, int error) {
    throw WorldError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(error)));
}

/// A name that no other thread or process of this machine writes to.
fs::path name_aside(const fs::path& path) {
    static std::atomic<int> count{0};
    fs::path aside = path;
    aside += fmt::format(".debubble-tmp-{}-{}", ::getpid(), count++);
    return aside;
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

DurableFile::DurableFile(fs::path path) : path_(std::move(path)), aside_(name_aside(path_)) {
    descriptor_ = ::open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(path_, "cannot be written", errno);
}

DurableFile::~DurableFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(aside_.c_str());
}

void DurableFile::write(std::int64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(path_, "cannot be written", errno);
        offset += written;
        bytes.remove_prefix(written);
    }
}

void DurableFile::append(std::string_view bytes) {
    write(size_, bytes);
    size_ += static_cast<std::int64_t>(bytes.size());
}

void DurableFile::overwrite(std::int64_t offset, std::string_view bytes) {
    write(offset, bytes);
}

void DurableFile::put_in_place(const fs::path& path) {
    if (::fsync(descriptor_) != 0) fail(path_, "cannot be flushed to the disk", errno);
    if (::rename(aside_.c_str(), path.c_str()) != 0) fail(path, "cannot be put in place", errno);
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail(path, "cannot be written", errno);
    sync_folder(folder_of(path));
}

void sync_folder(const fs::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) fail(folder, "cannot be opened", errno);
    // Some network file systems cannot sync folders, and say so; they need no sync.
    const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
    ::close(descriptor);
    if (error != 0) fail(folder, "cannot be flushed to the disk", error);
}

void write_durably(const fs::path& path, std::string_view content) {
    DurableFile file(path);
    file.append(content);
    file.put_in_place();
}

}  // namespace debubble::exec
