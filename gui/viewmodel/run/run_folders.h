#pragma once

#include <filesystem>
#include <string>

/// The folders of the window's runs, all in one folder.
namespace debubble::gui {

/// The number of kept folders of ended runs; older ones are removed.
inline constexpr std::size_t kKeptRuns = 20;

/// The folder of a running run, or of one whose files are shown. No process removes it while this
/// object exists or a child process that was started meanwhile runs.
class RunInUse {
public:
    RunInUse() = default;
    /// Makes the folder, and the lock that shows other processes that it is in use. Throws
    /// WorldError if it cannot be made.
    explicit RunInUse(const std::filesystem::path& folder);
    ~RunInUse();
    RunInUse(RunInUse&& other) noexcept;
    RunInUse& operator=(RunInUse&& other) noexcept;

private:
    int lock_ = -1;
};

/// Removes all folders of runs in `place` except the newest `kept` and those in use. Only folders
/// that RunInUse made are folders of runs. Returns the number of removed folders; folders that
/// cannot be removed stay.
std::size_t prune_runs(const std::filesystem::path& place, std::size_t kept = kKeptRuns);

}  // namespace debubble::gui
