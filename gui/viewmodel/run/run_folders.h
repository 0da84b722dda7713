#pragma once

#include <filesystem>
#include <string>

/// The folders of the window's runs: each run has one of its own, in a folder of all of them.
namespace debubble::gui {

/// A number of folders of ended runs, of which older ones are removed.
inline constexpr std::size_t kKeptRuns = 20;

/// The folder of a run that is under way, or whose files are shown: no process removes it until
/// this is gone and the children that were started meanwhile have ended.
class RunInUse {
public:
    RunInUse() = default;
    /// Makes the folder, and the mark by which other processes see that it is in use. Throws
    /// WorldError if it cannot be made.
    explicit RunInUse(const std::filesystem::path& folder);
    ~RunInUse();
    RunInUse(RunInUse&& other) noexcept;
    RunInUse& operator=(RunInUse&& other) noexcept;

private:
    int lock_ = -1;
};

/// Removes all folders of runs in `place` but the newest `kept` and those in use. A folder counts
/// as a run's if RunInUse made it: whatever else lies there stays. Returns how many were removed;
/// what cannot be removed stays.
std::size_t prune_runs(const std::filesystem::path& place, std::size_t kept = kKeptRuns);

}  // namespace debubble::gui
