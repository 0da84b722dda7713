#include "gui/viewmodel/sweep/sweep_run.h"

#include <algorithm>
#include <utility>

#include "base/diagnostic.h"
#include "scenarios/edit.h"
#include "sim/parallel.h"

namespace debubble::gui {
namespace {

constexpr std::string_view kFirstGrid =
    "parallel.tensor: [1, 2, 4, 8]\n"
    "parallel.pipeline: [1, 2, 4, 8]\n"
    "training.micro_batch: [1, 2, 4]\n"
    "schedule: [1f1b, gpipe, zb-h1]\n";

/// The window goes on working beside it.
int jobs() {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
}

}  // namespace

std::string grid_lines(const ScenarioText& source) {
    std::string lines;
    try {
        for (const auto& [key, values] : scenarios::entries_at(source.text, source.file, "sweep"))
            lines += key + ": " + values + '\n';
    } catch (const InputError&) {  // the text's mistakes are told where it is edited
    }
    return lines.empty() ? std::string(kFirstGrid) : lines;
}

ScenarioText with_grid(const ScenarioText& source, const std::string& lines) {
    return {scenarios::with_block(source.text, source.file, "sweep", lines), source.file};
}

SweepRun::SweepRun(ScenarioText source)
    : source_(std::move(source)),
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
        sim::run_parallel(grid_->points.size(), jobs(), &stop_, [this](std::size_t i) {
            sim::SweepRow row = sim::evaluate(*grid_, grid_->points[i]);
            const std::lock_guard lock(mutex_);
            rows_.push_back(std::move(row));
            ++done_;
        });
        const std::lock_guard lock(mutex_);
        state_ = done_ == grid_->points.size() ? State::Finished : State::Stopped;
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
    Progress progress{state_, done_, grid_ ? grid_->points.size() : 0, {}};
    if (state_ == State::Running && done_ > 0) {
        const auto passed = std::chrono::steady_clock::now() - begun_;
        const double share =
            static_cast<double>(progress.total - done_) / static_cast<double>(done_);
        progress.left = std::chrono::ceil<std::chrono::seconds>(passed * share);
    }
    return progress;
}

std::vector<sim::SweepRow> SweepRun::take_rows() {
    const std::lock_guard lock(mutex_);
    return std::exchange(rows_, {});
}

}  // namespace debubble::gui
