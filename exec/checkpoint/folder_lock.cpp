#include "exec/checkpoint/folder_lock.h"

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

FolderLock::FolderLock(const std::filesystem::path& folder) : path_(folder) {
    check_can_write(folder / "a file");
    folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) throw WorldError(fmt::format("{}: {}", folder.string(), std::strerror(errno)));
    if (::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(folder_);
    throw WorldError(fmt::format("{}: another run saves its checkpoints there", folder.string()));
}

FolderLock::~FolderLock() {
    std::error_code holds_something;
    std::filesystem::remove(path_, holds_something);
    ::close(folder_);
}

}  // namespace debubble::exec
