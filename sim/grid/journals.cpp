#include "sim/grid/results_file.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

namespace debubble::sim {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMark = ".worker-";

std::vector<fs::path> journals_beside(const fs::path& results) {
    const fs::path folder = results.has_parent_path() ? results.parent_path() : fs::path(".");
    const std::string start = results.filename().string() + std::string(kMark);
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(start) || name.size() == start.size()) continue;
        const bool number = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(start.size()),
                                        name.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (number) found.push_back(folder / name);
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace

fs::path journal_of(const fs::path& results, int worker) {
    fs::path journal = results;
    journal += std::string(kMark) + std::to_string(worker);
    return journal;
}

std::vector<SweepRow> rows_in_journals(const fs::path& results, const Grid& grid,
                                       const Basis& basis) {
    std::vector<SweepRow> rows;
    std::vector<bool> seen(grid.sweep.points(), false);
    for (const fs::path& journal : journals_beside(results)) {
        std::vector<SweepRow> of_journal = rows_in(journal, grid);
        if (of_journal.empty()) continue;  // its worker has just started
        keep_basis(journal, basis, false);
        for (SweepRow& row : of_journal) {
            if (seen[row.index]) continue;
            seen[row.index] = true;
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

DonePoints::DonePoints(fs::path results, const Grid& grid, Basis basis)
    : grid_(grid),
      results_(std::move(results)),
      basis_(std::move(basis)),
      done_(grid.sweep.points(), false),
      merged_(results_, grid) {}

void DonePoints::add(std::size_t index) {
    if (!done_[index]) ++count_;
    done_[index] = true;
}

void DonePoints::look() {
    for (const fs::path& journal : journals_beside(results_)) {
        const auto [followed, is_new] = journals_.try_emplace(journal, journal, grid_);
        bool any = false;
        followed->second.read_on([&](std::size_t index) {
            if (is_new && !any) keep_basis(journal, basis_, false);
            any = true;
            add(index);
        });
        if (is_new && !any) journals_.erase(followed);  // its worker has just started
    }
    // Rows that are merged meanwhile are in the results by now.
    bool any = false;
    merged_.read_on([&](std::size_t index) {
        if (!any) keep_basis(results_, basis_, false);
        any = true;
        add(index);
    });
}

bool DonePoints::are_merged() const {
    return count_ == grid_.points.size() && merged_.is_marked();
}

void remove_journals(const fs::path& results) {
    std::error_code error;
    for (const fs::path& journal : journals_beside(results)) {
        fs::remove(journal, error);
        fs::remove(basis_file_of(journal), error);
    }
}

}  // namespace debubble::sim
