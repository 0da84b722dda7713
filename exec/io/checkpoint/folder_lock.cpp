#include "exec/io/checkpoint/checkpoint.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::exec {

namespace {

bool is_there(const std::filesystem::path& path) {
    std::error_code unknown;
    return std::filesystem::exists(path, unknown);
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : path_(folder), made_(!is_there(folder)) {
    check_can_write(folder / "checkpoint");
    folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) throw WorldError(fmt::format("{}: {}", folder.string(), std::strerror(errno)));
    if (::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(folder_);
    throw WorldError(
        fmt::format("{}: another run is saving its checkpoints there", folder.string()));
}

FolderLock::~FolderLock() {
    std::error_code holds_something;
    if (made_) std::filesystem::remove(path_, holds_something);
    ::close(folder_);
}

}  // namespace debubble::exec
