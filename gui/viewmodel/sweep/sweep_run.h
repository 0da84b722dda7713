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
#include "sim/grid/search.h"

namespace debubble::gui {

/// The grid of a scenario as lines of YAML such as "parallel.tensor: [1, 2, 4]"; if the scenario
/// has none, a grid to start with.
std::string grid_lines(const ScenarioText& source);

/// The scenario with these lines as its `sweep:`. Throws InputError.
ScenarioText with_grid(const ScenarioText& source, const std::string& lines);

/// The file of a sweep's rows, during the sweep and after it: one for each grid, scenario, folder
/// of shipped data and version of the program.
std::filesystem::path results_of(const std::filesystem::path& folder, const ScenarioText& source);

/// The question about a grid: the figures of each plan, or only its best plan, which `debubble
/// search` finds without playing plans that cannot be the best.
enum class Ask : std::uint8_t { EveryPlan, BestPlan };

/// A sweep that runs on all cores but one and writes a file like that of `debubble sweep`. Rows of
/// an earlier sweep in the file are not computed again, unless the scenario now gives other
/// results. If the file cannot be used (another sweep writes it, the folder is locked), the sweep
/// runs without it. A search keeps no file. Only one thread may use the object; the destructor
/// stops the sweep and waits for the started points.
class SweepRun {
public:
    /// The scenario with its grid.
    SweepRun(ScenarioText source, std::filesystem::path results, Ask ask = Ask::EveryPlan);
    ~SweepRun();
    SweepRun(const SweepRun&) = delete;
    SweepRun& operator=(const SweepRun&) = delete;

    void stop() { stop_ = true; }

    enum class State { Reading, Running, Finished, Stopped, Failed };
    struct Progress {
        State state = State::Reading;
        std::size_t done = 0;
        std::size_t total = 0;
        /// The points that an earlier sweep has computed.
        std::size_t found = 0;
        std::optional<std::chrono::seconds> left;  ///< remaining time at the current rate
        bool kept = true;                          ///< whether the rows are kept for a later sweep
    };
    Progress progress() const;
    /// Takes the rows since the last call; of a search, after its end, the played rows that fit.
    /// Their Pareto column is empty.
    std::vector<sim::SweepRow> take_rows();

    Ask asked() const { return ask_; }
    /// The result of a search. Precondition: it has finished or was stopped.
    const sim::SearchResult& found() const { return found_best_; }

    /// The grid. Precondition: the progress has a total.
    const sim::Grid& grid() const { return *grid_; }
    /// The mistakes. Precondition: the state is Failed.
    const std::vector<Diagnostic>& mistakes() const { return mistakes_; }

private:
    void run();
    void search(const sim::Grid& grid);
    void sweep(const sim::Grid& grid);
    void sweep_into(const std::filesystem::path& results, const sim::Grid& grid);
    void add(const sim::SweepRow& row, bool found);
    void set_state(State state);

    ScenarioText source_;
    std::filesystem::path results_;
    Ask ask_;
    sim::SearchResult found_best_;
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
    std::thread thread_;  ///< last, since it uses all members above
};

/// What a search found, in a sentence or two: "Best of 1,248 plans: 68,792 tokens/s by tensor 4,
/// ...". `plan` is the best one in words. Without one that fits, why the others are none.
std::string search_words(const sim::SearchResult& found, const std::string& plan,
                         std::span<const std::string> keys);

}  // namespace debubble::gui
