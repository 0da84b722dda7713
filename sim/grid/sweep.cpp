#include "sim/grid/sweep.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "sim/grid/compare_plans.h"
#include "sim/grid/results_file.h"

namespace debubble::sim {
namespace {

/// A small set of rows that has every value of every key which any row has; possible plans are
/// preferred, since they have more figures.
std::vector<const SweepRow*> one_of_each_value(const std::vector<SweepRow>& rows) {
    std::set<std::pair<std::size_t, std::string>> held;
    std::vector<const SweepRow*> chosen;
    for (const bool possible : {true, false})
        for (const SweepRow& row : rows) {
            if (row.possible() != possible) continue;
            const std::size_t before = held.size();
            for (std::size_t key = 0; key < row.values.size(); ++key)
                held.emplace(key, row.values[key]);
            if (held.size() > before) chosen.push_back(&row);
        }
    return chosen;
}

/// Compares old rows with new ones: a scenario, model, cluster or schedule file may have changed
/// since the earlier run, or this program, and then old and new rows must not be in one file. Each
/// value may name a file that no other value does, so a row of each is computed again, even if the
/// sweep was asked to stop: unchecked rows are not reported.
void check_still_true(const std::vector<SweepRow>& found, const Grid& grid,
                      const std::filesystem::path& results, const BatchOptions& options) {
    const std::vector<const SweepRow*> asked = one_of_each_value(found);
    run_parallel(asked.size(), options.jobs.value_or(0), nullptr, [&](std::size_t i) {
        const SweepRow& old = *asked[i];
        SweepRow now = evaluate(grid, old.index);
        now.pareto = old.pareto;
        now.twin_of = old.twin_of;
        if (now == old) return;
        throw InputError(
            fmt::format("{} holds other results: the point {} now gives something else, "
                        "so the scenario or the program has changed; remove the file, or "
                        "give another --out",
                        results.string(), fmt::join(old.values, ", ")));
    });
}

std::vector<std::size_t> still_to_do(const Grid& grid, const std::vector<SweepRow>& found) {
    std::vector<bool> done(grid.sweep.points(), false);
    for (const SweepRow& row : found) done[row.index] = true;
    std::vector<std::size_t> to_do;
    std::ranges::copy_if(grid.points, std::back_inserter(to_do),
                         [&](std::size_t index) { return !done[index]; });
    return to_do;
}

/// Adds rows that workers have predicted and nobody has merged yet. The number of them.
std::size_t take_up_journals(const Grid& grid, std::vector<SweepRow>& rows,
                             std::vector<SweepRow> journals) {
    std::vector<bool> known(grid.sweep.points(), false);
    for (const SweepRow& row : rows) known[row.index] = true;
    const std::size_t before = rows.size();
    for (SweepRow& row : journals)
        if (!known[row.index]) rows.push_back(std::move(row));
    return rows.size() - before;
}

/// Fills the columns that compare rows with each other. True if that changes one.
bool mark(std::vector<SweepRow>& rows, const Grid& grid) {
    const bool duplicates_change = mark_duplicates(rows, grid.keys());
    return mark_pareto(rows) || duplicates_change;
}

}  // namespace

SweepResult sweep(const Grid& grid, const std::filesystem::path& results,
                  const BatchOptions& options) {
    ResultsFile file(results, grid);
    SweepResult result{file.take_found(), grid.points.size(), 0, 0};
    Basis basis = grid.basis;
    if (!options.program.empty()) basis.emplace("the program", options.program);
    keep_basis(results, basis, result.rows.empty());
    const std::size_t taken_up =
        take_up_journals(grid, result.rows, rows_in_journals(results, grid, basis));
    result.found = result.rows.size();
    check_still_true(result.rows, grid, results, options);
    const std::vector<std::size_t> to_do = still_to_do(grid, result.rows);
    if (options.row)
        for (const SweepRow& row : result.rows) options.row(row, true);

    std::mutex mutex;
    std::unordered_map<std::size_t, std::size_t> place_of;  // of each point's row
    for (std::size_t i = 0; i < result.rows.size(); ++i) place_of[result.rows[i].index] = i;
    const KnownRow known = [&](std::size_t index) -> std::optional<SweepRow> {
        const std::lock_guard lock(mutex);
        const auto at = place_of.find(index);
        return at == place_of.end() ? std::nullopt : std::optional(result.rows[at->second]);
    };
    run_parallel(to_do.size(), options.jobs.value_or(0), options.stop, [&](std::size_t i) {
        SweepRow row = evaluate(grid, to_do[i], options.choosing, known);
        const std::lock_guard lock(mutex);
        place_of[row.index] = result.rows.size();
        file.append(row);
        if (options.row) options.row(row, false);
        result.rows.push_back(std::move(row));
        if (options.progress) options.progress(result.rows.size(), result.total);
    });

    std::ranges::sort(result.rows, {}, &SweepRow::index);
    result.done = result.rows.size();
    if (!result.finished()) return result;
    const bool marks_change = mark(result.rows, grid);
    if (!to_do.empty() || taken_up > 0 || marks_change) file.replace(result.rows);
    remove_journals(results);
    return result;
}

}  // namespace debubble::sim
