#include "exec/program/run/world/launch.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec {

namespace {

namespace fs = std::filesystem;

bool is_private(const fs::path& folder) {
    struct stat status {};
    return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
}

}  // namespace

fs::path private_folder() {
    const char* of_login = std::getenv("XDG_RUNTIME_DIR");
    if (of_login != nullptr && is_private(of_login) && ::access(of_login, W_OK) == 0)
        return of_login;
    std::error_code none;
    const fs::path temporary = fs::temp_directory_path(none);
    const fs::path folder =
        (none ? fs::path("/tmp") : temporary) / fmt::format("debubble-{}", ::geteuid());
    const int error = ::mkdir(folder.c_str(), 0700) == 0 ? 0 : errno;
    if (error != 0 && error != EEXIST)
        throw WorldError(
            fmt::format("the folder {} cannot be made: {}", folder.string(), std::strerror(error)));
    if (!is_private(folder))
        throw WorldError(fmt::format(
            "{} is not a folder that only user {} can read: set TMPDIR or XDG_RUNTIME_DIR, the "
            "same for all ranks of this host, to a folder that is, or remove it if it is yours",
            folder.string(), ::geteuid()));
    return folder;
}

}  // namespace debubble::exec
