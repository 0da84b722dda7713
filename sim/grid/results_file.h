#pragma once

#include <filesystem>
#include <mutex>
#include <vector>

#include "base/diagnostic.h"
#include "sim/grid/grid.h"

/// The results.csv of a sweep, which grows by one row as each point is done and survives being
/// killed at any moment with at most one row lost.
namespace debubble::sim {

/// Another process is writing the file.
class ResultsInUse : public WorldError {
public:
    using WorldError::WorldError;
};

/// The whole rows in a file that another process may be writing, each point once; none if there is
/// no file. Throws InputError if it has the results of another grid.
std::vector<SweepRow> rows_in(const std::filesystem::path& path, const Grid& grid);

class ResultsFile {
public:
    /// Opens or makes the file, for this process alone, and reads the rows of an earlier run; an
    /// incomplete last row is cut off. Throws InputError if it has the results of another grid,
    /// ResultsInUse if it is in use.
    ResultsFile(std::filesystem::path path, const Grid& grid);
    ~ResultsFile();
    ResultsFile(const ResultsFile&) = delete;
    ResultsFile& operator=(const ResultsFile&) = delete;

    /// The rows of an earlier run, each point once.
    const std::vector<SweepRow>& found() const { return found_; }

    /// One write(2) with O_APPEND. Thread-safe.
    void append(const SweepRow& row);

    /// Replaces the whole file, with its rows in this order.
    void replace(const std::vector<SweepRow>& rows);

private:
    void open_locked();
    void read_rows(const Grid& grid);

    std::filesystem::path path_;
    std::vector<std::string> header_;
    std::vector<SweepRow> found_;
    int fd_ = -1;
    std::mutex mutex_;
};

// The journals of workers next to the results of a sweep: rows that are not merged yet.

/// "results.csv.worker-3".
std::filesystem::path journal_of(const std::filesystem::path& results, int worker);

/// The rows of all journals next to the results, each point once, as far as they are written.
/// Throws InputError if one belongs to another grid or scenario.
std::vector<SweepRow> rows_in_journals(const std::filesystem::path& results, const Grid& grid,
                                       const Basis& basis);

/// Removes the journals, whose rows are in the results. A journal that a worker still has open may
/// be removed.
void remove_journals(const std::filesystem::path& results);

}  // namespace debubble::sim
