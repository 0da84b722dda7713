#include "sim/sweep.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "sim/parallel.h"
#include "sim/results_file.h"

namespace debubble::sim {
namespace {

/// A scenario, model or cluster file may have changed since the earlier run,
/// or this program: then old and new rows must not stand in one file. One row
/// is computed again to see.
void check_still_true(const std::vector<SweepRow>& found, const Grid& grid,
                      const std::filesystem::path& results) {
    if (found.empty()) return;
    const auto possible = std::ranges::find_if(found, &SweepRow::possible);
    const SweepRow& old = possible != found.end() ? *possible : found.front();
    SweepRow now = evaluate(grid, old.index);
    now.pareto = old.pareto;
    if (now == old) return;
    throw InputError(
        fmt::format("{} holds other results: the point {} now gives something else, "
                    "so the scenario or the program has changed; remove the file, or "
                    "give another --out",
                    results.string(), fmt::join(old.values, ", ")));
}

std::vector<std::size_t> still_to_do(const Grid& grid, const std::vector<SweepRow>& found) {
    std::vector<bool> done(grid.sweep.points(), false);
    for (const SweepRow& row : found) done[row.index] = true;
    std::vector<std::size_t> to_do;
    std::ranges::copy_if(grid.points, std::back_inserter(to_do),
                         [&](std::size_t index) { return !done[index]; });
    return to_do;
}

}  // namespace

SweepResult sweep(const Grid& grid, const std::filesystem::path& results,
                  const BatchOptions& options) {
    ResultsFile file(results, grid);
    SweepResult result{file.found(), grid.points.size(), file.found().size()};
    check_still_true(result.rows, grid, results);
    const std::vector<std::size_t> to_do = still_to_do(grid, result.rows);
    if (options.row)
        for (const SweepRow& row : result.rows) options.row(row, true);

    std::mutex mutex;
    run_parallel(to_do.size(), options.jobs, options.stop, [&](std::size_t i) {
        SweepRow row = evaluate(grid, to_do[i]);
        const std::lock_guard lock(mutex);
        file.append(row);
        if (options.row) options.row(row, false);
        result.rows.push_back(std::move(row));
        if (options.progress) options.progress(result.rows.size(), result.total);
    });

    std::ranges::sort(result.rows, {}, &SweepRow::index);
    if (!result.finished()) return result;
    const std::vector<SweepRow> before = result.rows;
    mark_pareto(result.rows);
    if (!to_do.empty() || result.rows != before) file.replace(result.rows);
    return result;
}

}  // namespace debubble::sim
