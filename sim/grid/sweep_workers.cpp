#include "sim/grid/sweep.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "sim/grid/results_file.h"

namespace debubble::sim {
namespace fs = std::filesystem;
namespace {

/// The most points of other shares that a worker predicts before it looks what others have done.
constexpr std::size_t kMostTakenUp = 64;

class Worker {
public:
    Worker(const Grid& grid, const fs::path& results, WorkerPlace place, DonePoints& done,
           const Basis& basis, const BatchOptions& options)
        : grid_(grid),
          place_(place),
          done_(done),
          options_(options),
          journal_(journal_of(results, place.index), grid) {
        keep_basis(journal_of(results, place.index), basis, journal_.take_found().empty());
    }

    /// Returns when nothing is left to do, or the sweep was stopped.
    void run() {
        done_.look();
        left_ = grid_.points;
        do_all(mine());
        while (!stopped()) {
            done_.look();
            std::erase_if(left_, [&](std::size_t index) { return done_.has(index); });
            if (left_.empty()) return;
            do_all(some_of_others());
        }
    }

private:
    bool stopped() const { return options_.stop != nullptr && *options_.stop; }

    /// Every count-th point, but for those that are done.
    std::vector<std::size_t> mine() const {
        std::vector<std::size_t> share;
        for (std::size_t at = place_.index; at < grid_.points.size(); at += place_.count)
            if (!done_.has(grid_.points[at])) share.push_back(grid_.points[at]);
        return share;
    }

    /// A part of the points that are left: each worker begins elsewhere and takes less the fewer
    /// there are, so that few are predicted twice.
    std::vector<std::size_t> some_of_others() const {
        const std::size_t count = place_.count;
        const std::size_t most = std::clamp(left_.size() / (2 * count), std::size_t{1},
                                            std::max(kMostTakenUp, threads()));
        const std::size_t first = left_.size() * place_.index / count;
        std::vector<std::size_t> some;
        for (std::size_t i = 0; i < std::min(std::max(most, threads()), left_.size()); ++i)
            some.push_back(left_[(first + i) % left_.size()]);
        return some;
    }
    std::size_t threads() const {
        return options_.jobs ? static_cast<std::size_t>(*options_.jobs)
                             : std::max(1U, std::thread::hardware_concurrency());
    }

    void do_all(const std::vector<std::size_t>& points) {
        std::mutex mutex;
        run_parallel(points.size(), options_.jobs.value_or(0), options_.stop, [&](std::size_t i) {
            const SweepRow row = evaluate(grid_, points[i], options_.choosing);
            const std::lock_guard lock(mutex);
            journal_.append(row);
            if (options_.row) options_.row(row, false);
            done_.add(row.index);
            if (options_.progress) options_.progress(done_.count(), grid_.points.size());
        });
    }

    const Grid& grid_;
    WorkerPlace place_;
    DonePoints& done_;
    const BatchOptions& options_;
    ResultsFile journal_;
    std::vector<std::size_t> left_;
};

}  // namespace

SweepResult sweep_as_worker(const Grid& grid, const fs::path& results, WorkerPlace place,
                            const BatchOptions& options) {
    Basis basis = grid.basis;
    if (!options.program.empty()) basis.emplace("the program", options.program);
    DonePoints done(results, grid, basis);
    done.look();
    SweepResult result{{}, grid.points.size(), done.count(), done.count()};
    if (!result.finished()) {
        Worker(grid, results, place, done, basis, options).run();
        result.done = done.count();
        if (!result.finished()) return result;
    }
    if (done.are_merged()) return result;
    BatchOptions merging = options;
    merging.row = {};
    merging.stop = nullptr;
    try {
        SweepResult merged = sweep(grid, results, merging);
        merged.found = result.found;
        return merged;
    } catch (const ResultsInUse&) {  // another worker merges
        return result;
    }
}

}  // namespace debubble::sim
