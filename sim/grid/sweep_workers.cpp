#include "sim/grid/sweep.h"

#include <algorithm>
#include <mutex>
#include <system_error>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "sim/grid/results_file.h"

namespace debubble::sim {
namespace fs = std::filesystem;
namespace {

/// Number of points of other shares that a worker predicts before it reads the journals again.
constexpr std::size_t kTakenUpAtOnce = 64;

class Worker {
public:
    Worker(const Grid& grid, const fs::path& results, WorkerPlace place,
           const BatchOptions& options)
        : grid_(grid),
          results_(results),
          place_(place),
          options_(options),
          basis_(grid.basis),
          journal_(journal_of(results, place.index), grid) {
        if (!options.program.empty()) basis_.emplace("the program", options.program);
        keep_basis(journal_of(results, place.index), basis_, journal_.found().empty());
    }

    /// All known points, when nothing is left to do or the sweep was stopped.
    std::vector<SweepRow> run() {
        look();
        found_ = known_.size();
        do_all(mine());
        for (;;) {
            look();
            std::vector<std::size_t> left = missing();
            if (left.empty() || stopped()) return known_;
            // Each starts at another index, so that few points are predicted twice.
            const auto count = static_cast<std::size_t>(place_.count);
            const std::size_t first = left.size() * static_cast<std::size_t>(place_.index) / count;
            std::ranges::rotate(left, left.begin() + static_cast<std::ptrdiff_t>(first));
            left.resize(std::min(left.size(), kTakenUpAtOnce));
            do_all(left);
        }
    }
    std::size_t found() const { return found_; }

private:
    bool stopped() const { return options_.stop != nullptr && *options_.stop; }

    /// Reads the rows that this and the other workers have written so far.
    void look() {
        known_ = rows_in_journals(results_, grid_, basis_);
        std::error_code error;
        if (fs::exists(results_, error))
            for (SweepRow& row : rows_in(results_, grid_)) known_.push_back(std::move(row));
        std::ranges::sort(known_, {}, &SweepRow::index);
        const auto twice = std::ranges::unique(known_, {}, &SweepRow::index);
        known_.erase(twice.begin(), twice.end());
    }

    std::vector<std::size_t> missing() const {
        std::vector<bool> done(grid_.sweep.points(), false);
        for (const SweepRow& row : known_) done[row.index] = true;
        std::vector<std::size_t> left;
        std::ranges::copy_if(grid_.points, std::back_inserter(left),
                             [&](std::size_t index) { return !done[index]; });
        return left;
    }
    std::vector<std::size_t> mine() const {
        std::vector<std::size_t> share;
        for (const std::size_t index : missing()) {
            const auto at = std::ranges::lower_bound(grid_.points, index) - grid_.points.begin();
            if (at % place_.count == place_.index) share.push_back(index);
        }
        return share;
    }

    void do_all(const std::vector<std::size_t>& points) {
        std::mutex mutex;
        run_parallel(points.size(), options_.jobs, options_.stop, [&](std::size_t i) {
            SweepRow row = evaluate(grid_, points[i], options_.choosing);
            const std::lock_guard lock(mutex);
            journal_.append(row);
            if (options_.row) options_.row(row, false);
            known_.push_back(std::move(row));
            if (options_.progress) options_.progress(known_.size(), grid_.points.size());
        });
    }

    const Grid& grid_;
    const fs::path& results_;
    WorkerPlace place_;
    const BatchOptions& options_;
    Basis basis_;
    ResultsFile journal_;
    std::vector<SweepRow> known_;
    std::size_t found_ = 0;
};

bool is_done(const fs::path& results, const Grid& grid) {
    std::error_code error;
    return fs::exists(results, error) && rows_in(results, grid).size() == grid.points.size();
}

}  // namespace

SweepResult sweep_as_worker(const Grid& grid, const fs::path& results, WorkerPlace place,
                            const BatchOptions& options) {
    SweepResult result{{}, grid.points.size(), 0};
    if (!is_done(results, grid)) {
        Worker worker(grid, results, place, options);
        result.rows = worker.run();
        result.found = worker.found();
        std::ranges::sort(result.rows, {}, &SweepRow::index);
        if (!result.finished()) return result;
    }
    BatchOptions merging = options;
    merging.row = {};
    merging.stop = nullptr;
    try {
        SweepResult merged = sweep(grid, results, merging);
        if (!result.rows.empty()) merged.found = result.found;
        return merged;
    } catch (const ResultsInUse&) {  // another worker merges, and has all the rows too
        if (result.rows.empty()) result.rows = rows_in(results, grid);
        return result;
    }
}

}  // namespace debubble::sim
