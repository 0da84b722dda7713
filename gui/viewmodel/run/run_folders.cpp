#include "gui/viewmodel/run/run_folders.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::gui {
namespace {

namespace fs = std::filesystem;

/// The file that marks the folder of a run, locked while the run is in use.
constexpr const char* kMark = "debubble-run.lock";

/// Whether a process uses the run. True if that cannot be determined.
bool is_in_use(const fs::path& folder) {
    const int lock = ::open((folder / kMark).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) return true;
    const bool used = ::flock(lock, LOCK_EX | LOCK_NB) != 0;
    ::close(lock);
    return used;
}

}  // namespace

RunInUse::RunInUse(const fs::path& folder) {
    std::error_code ignored;  // open() reports it
    fs::create_directories(folder, ignored);
    // Children inherit it: a run that outlives its window is still in use.
    lock_ = ::open((folder / kMark).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
    if (lock_ >= 0 && ::flock(lock_, LOCK_SH | LOCK_NB) == 0) return;
    if (lock_ >= 0) ::close(std::exchange(lock_, -1));
    throw WorldError(fmt::format("{} cannot be made", (folder / kMark).string()));
}

RunInUse::~RunInUse() {
    if (lock_ >= 0) ::close(lock_);
}

RunInUse::RunInUse(RunInUse&& other) noexcept : lock_(std::exchange(other.lock_, -1)) {}

RunInUse& RunInUse::operator=(RunInUse&& other) noexcept {
    std::swap(lock_, other.lock_);
    return *this;
}

std::size_t prune_runs(const fs::path& place, std::size_t kept) {
    std::vector<std::pair<fs::file_time_type, fs::path>> runs;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(place, error)) {
        std::error_code unreadable;
        // A link to a folder is not a run, since its target may be any folder.
        if (!entry.is_directory(unreadable) || entry.is_symlink(unreadable)) continue;
        const fs::path mark = entry.path() / kMark;
        if (!fs::is_regular_file(fs::symlink_status(mark, unreadable))) continue;
        runs.emplace_back(fs::last_write_time(mark, unreadable), entry.path());
    }
    std::ranges::sort(runs, std::ranges::greater{});
    std::size_t removed = 0;
    for (std::size_t i = kept; i < runs.size(); ++i) {
        if (is_in_use(runs[i].second)) continue;
        std::error_code failed;
        fs::remove_all(runs[i].second, failed);
        if (!failed) ++removed;
    }
    return removed;
}

}  // namespace debubble::gui
