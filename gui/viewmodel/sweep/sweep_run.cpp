#include "gui/viewmodel/sweep/sweep_run.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <stdlib.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/sha256.h"
#include "scenarios/read/edit.h"
#include "sim/grid/first_grid.h"
#include "sim/grid/sweep.h"
#include "text/shipped_files.h"

namespace debubble::gui {
namespace {

/// A temporary folder for rows that are not kept.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "debubble-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw WorldError(fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// The number of jobs, which leaves one core to the window.
int jobs() {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
}

}  // namespace

std::string grid_lines(const ScenarioText& source) {
    std::string lines;
    try {
        for (const auto& [key, values] : scenarios::entries_at(source.text, source.file, "sweep"))
            lines += key + ": " + values + '\n';
    } catch (const InputError&) {  // mistakes of the text are shown in its editor
    }
    return lines.empty() ? sim::first_grid(source.text, source.file).lines : lines;
}

ScenarioText with_grid(const ScenarioText& source, const std::string& lines) {
    return {scenarios::with_block(source.text, source.file, "sweep", lines), source.file};
}

std::filesystem::path results_of(const std::filesystem::path& folder, const ScenarioText& source) {
    constexpr std::size_t kDigits = 16;
    const std::string path = std::filesystem::absolute(source.file).lexically_normal().string();
    std::string all = DEBUBBLE_VERSION;
    for (const std::string& part : {text::data_folder().string(), path, source.text})
        all += '\0' + part;
    const std::string digest = sha256(all).substr(0, kDigits);
    return folder / fmt::format("{}-{}.csv", title_of(source.file), digest);
}

SweepRun::SweepRun(ScenarioText source, std::filesystem::path results, Ask ask)
    : source_(std::move(source)),
      results_(std::move(results)),
      ask_(ask),
      begun_(std::chrono::steady_clock::now()),
      thread_([this] { run(); }) {}

SweepRun::~SweepRun() {
    stop();
    thread_.join();
}

void SweepRun::set_state(State state) {
    const std::lock_guard lock(mutex_);
    state_ = state;
}

void SweepRun::add(const sim::SweepRow& row, bool found) {
    const std::lock_guard lock(mutex_);
    rows_.push_back(row);
    // The column is one of the table and not of the file.
    rows_.back().pareto.reset();
    rows_.back().twin_of.reset();
    ++done_;
    if (found) ++found_;
}

void SweepRun::sweep_into(const std::filesystem::path& results, const sim::Grid& grid) {
    sim::BatchOptions options;
    options.jobs = jobs();
    options.stop = &stop_;
    options.row = [this](const sim::SweepRow& row, bool found) { add(row, found); };
    const bool finished = sim::sweep(grid, results, options).finished();
    set_state(finished ? State::Finished : State::Stopped);
}

void SweepRun::sweep(const sim::Grid& grid) {
    try {
        try {
            return sweep_into(results_, grid);
        } catch (const InputError&) {
            // The content of the file is out of date: a model, a cluster or the program has
            // changed.
            std::error_code error;  // if the removal fails, the file is refused again
            std::filesystem::remove(results_, error);
        }
        return sweep_into(results_, grid);
    } catch (const WorldError&) {
        const std::lock_guard lock(mutex_);
        if (done_ > 0) throw;  // the sweep had started: its rows so far are in the file
        kept_ = false;
    }
    const TemporaryFolder folder;
    sweep_into(folder.path() / "results.csv", grid);
}

void SweepRun::search(const sim::Grid& grid) {
    sim::BatchOptions options;
    options.jobs = jobs();
    options.stop = &stop_;
    options.progress = [this](std::size_t done, std::size_t) {
        const std::lock_guard lock(mutex_);
        done_ = done;
    };
    sim::SearchResult result = sim::search(grid, sim::Objective::TokensPerS, options);
    const std::lock_guard lock(mutex_);
    rows_ = result.played;
    found_best_ = std::move(result);
    state_ = found_best_.finished ? State::Finished : State::Stopped;
}

void SweepRun::run() {
    try {
        auto grid = std::make_unique<const sim::Grid>(source_.text, source_.file,
                                                      std::vector<scenarios::Override>{});
        {
            const std::lock_guard lock(mutex_);
            grid_ = std::move(grid);
            state_ = State::Running;
            begun_ = std::chrono::steady_clock::now();
        }
        ask_ == Ask::BestPlan ? search(*grid_) : sweep(*grid_);
    } catch (const InputError& error) {
        mistakes_ = error.diagnostics();
        set_state(State::Failed);
    } catch (const std::exception& error) {
        mistakes_ = {{{}, error.what(), {}}};
        set_state(State::Failed);
    }
}

SweepRun::Progress SweepRun::progress() const {
    const std::lock_guard lock(mutex_);
    Progress progress{state_, done_, grid_ ? grid_->points.size() : 0, found_, {}, kept_};
    if (state_ == State::Running && done_ > found_) {
        const auto passed = std::chrono::steady_clock::now() - begun_;
        const double share =
            static_cast<double>(progress.total - done_) / static_cast<double>(done_ - found_);
        progress.left = std::chrono::ceil<std::chrono::seconds>(passed * share);
    }
    return progress;
}

std::vector<sim::SweepRow> SweepRun::take_rows() {
    const std::lock_guard lock(mutex_);
    return std::exchange(rows_, {});
}

}  // namespace debubble::gui
