#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gui/viewmodel/source.h"
#include "sim/grid/grid.h"

namespace debubble::gui {

/// The grid of a scenario as lines of YAML, "parallel.tensor: [1, 2, 4]"; if it has none, one to
/// begin with.
std::string grid_lines(const ScenarioText& source);

/// The scenario with these lines as its `sweep:`. Throws InputError.
ScenarioText with_grid(const ScenarioText& source, const std::string& lines);

/// Where the rows of a sweep are kept while it is not finished, and after: a file per grid,
/// scenario, folder of shipped data and version of the program.
std::filesystem::path results_of(const std::filesystem::path& folder, const ScenarioText& source);

/// A sweep under way, on all cores but one, into a file as `debubble sweep` writes it: what an
/// earlier one has left there is not computed again, unless the scenario now gives other results.
/// Where that file cannot be had (another sweep writes it, the folder is locked), it goes on
/// without. Made, asked and ended by one thread; the destructor stops it and waits for the points
/// that are begun.
class SweepRun {
public:
    SweepRun(ScenarioText source, std::filesystem::path results);  ///< with its grid
    ~SweepRun();
    SweepRun(const SweepRun&) = delete;
    SweepRun& operator=(const SweepRun&) = delete;

    void stop() { stop_ = true; }

    enum class State { Reading, Running, Finished, Stopped, Failed };
    struct Progress {
        State state = State::Reading;
        std::size_t done = 0;
        std::size_t total = 0;
        std::size_t found = 0;                     ///< of those done, by an earlier sweep
        std::optional<std::chrono::seconds> left;  ///< at the pace so far
        bool kept = true;                          ///< the rows, for a later sweep
    };
    Progress progress() const;
    /// Those that have come since the last call. The Pareto column is not filled.
    std::vector<sim::SweepRow> take_rows();

    /// Once the progress has a total.
    const sim::Grid& grid() const { return *grid_; }
    /// Once it has Failed.
    const std::vector<Diagnostic>& mistakes() const { return mistakes_; }

private:
    void run();
    void sweep(const sim::Grid& grid);
    void sweep_into(const std::filesystem::path& results, const sim::Grid& grid);
    void add(const sim::SweepRow& row, bool found);
    void set_state(State state);

    ScenarioText source_;
    std::filesystem::path results_;
    std::atomic<bool> stop_ = false;
    mutable std::mutex mutex_;
    State state_ = State::Reading;
    std::vector<sim::SweepRow> rows_;
    std::size_t done_ = 0;
    std::size_t found_ = 0;
    bool kept_ = true;
    std::chrono::steady_clock::time_point begun_;
    std::unique_ptr<const sim::Grid> grid_;
    std::vector<Diagnostic> mistakes_;
    std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace debubble::gui
