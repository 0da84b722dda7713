#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
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

    /// The rows of an earlier run, each point once, at the first call.
    std::vector<SweepRow> take_found() { return std::exchange(found_, {}); }

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

/// The points of a results file that other processes may be writing, or of a journal: only what was
/// written since the last look is read.
class FollowedFile {
public:
    FollowedFile(std::filesystem::path path, const Grid& grid);

    /// Calls `found` for the point of each row that is new. If the file was replaced, its rows come
    /// again. Throws InputError if it has the results of another grid.
    void read_on(const std::function<void(std::size_t index)>& found);

    /// Whether its last row is one of finished results, in grid order and with marks.
    bool is_marked() const;

private:
    void take_rows(std::string_view& text, const std::function<void(std::size_t index)>& found);

    std::filesystem::path path_;
    const Grid& grid_;
    std::pair<std::uint64_t, std::uint64_t> file_{};  ///< device and number of the file
    std::size_t read_ = 0;                            ///< bytes of its header and whole rows
    std::string last_row_;
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

/// The points that are done, by the results and all journals next to them.
class DonePoints {
public:
    DonePoints(std::filesystem::path results, const Grid& grid, Basis basis);

    /// Reads what has been written since the last look. Throws InputError if a file belongs to
    /// another grid or scenario.
    void look();
    void add(std::size_t index);
    bool has(std::size_t index) const { return done_[index]; }
    std::size_t count() const { return count_; }
    /// Whether the results have had all points, merged, at the last look.
    bool are_merged() const;

private:
    const Grid& grid_;
    std::filesystem::path results_;
    Basis basis_;
    std::vector<bool> done_;
    std::size_t count_ = 0;
    FollowedFile merged_;
    std::map<std::filesystem::path, FollowedFile> journals_;
};

}  // namespace debubble::sim
