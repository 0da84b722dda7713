#include "sim/grid/results_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <unordered_map>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "text/csv_row.h"

namespace debubble::sim {
namespace fs = std::filesystem;
namespace {

using Fields = std::vector<std::string>;

[[noreturn]] void fail(const fs::path& path, std::string_view what) {
    throw WorldError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

/// Finds points by their values, which are hashed where many rows are read.
class PointFinder {
public:
    explicit PointFinder(const Grid& grid) : grid_(grid) {}

    std::optional<std::size_t> index_of(const Fields& values) {
        if (++asked_ == kFewRows) hash_values();
        std::size_t index = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto at = place_of(i, values[i]);
            if (!at) return std::nullopt;
            index = index * grid_.sweep.keys[i].values.size() + *at;
        }
        if (!std::ranges::binary_search(grid_.points, index)) return std::nullopt;
        return index;
    }

private:
    static constexpr std::size_t kFewRows = 64;

    void hash_values() {
        for (const scenarios::SweepKey& key : grid_.sweep.keys) {
            auto& places = places_.emplace_back();
            for (std::size_t i = 0; i < key.values.size(); ++i) places.emplace(key.values[i], i);
        }
    }
    std::optional<std::size_t> place_of(std::size_t key, const std::string& value) const {
        if (places_.empty()) {
            const auto& known = grid_.sweep.keys[key].values;
            const auto at = std::ranges::find(known, value);
            if (at == known.end()) return std::nullopt;
            return static_cast<std::size_t>(at - known.begin());
        }
        const auto at = places_[key].find(value);
        return at == places_[key].end() ? std::nullopt : std::optional(at->second);
    }

    const Grid& grid_;
    std::size_t asked_ = 0;
    std::vector<std::unordered_map<std::string_view, std::size_t>> places_;
};

/// Removes the temporary files that a killed process left behind in write_file().
void remove_leftovers(const fs::path& path) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const std::string start = path.filename().string() + ".debubble-tmp-";
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().filename().string().starts_with(start)) fs::remove(entry.path(), error);
}

constexpr std::size_t kLongestResults = std::size_t{1} << 34;
constexpr std::size_t kReadAtOnce = std::size_t{4} << 20;

/// Rows of a file, and the length in bytes of its header and whole rows.
struct Parsed {
    std::vector<SweepRow> rows;
    std::size_t whole = 0;  ///< 0 if it ends within the header
};

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw InputError(fmt::format("{} holds other results: {}; remove it, or give another --out",
                                 path.string(), why));
}

/// Takes the header off the text. False if the text ends within it.
bool take_header(std::string_view& text, const fs::path& path, const Fields& columns) {
    const std::string_view content = text;
    const std::string header = text::write_csv_row(columns);
    const std::optional<Fields> fields = text::take_csv_row(text);
    if (!fields && header.starts_with(content)) return false;
    if (!fields || *fields != columns)
        refuse(path, fmt::format("its columns are '{}', and this grid's are '{}'",
                                 content.substr(0, std::min(content.find('\n'), std::size_t{200})),
                                 header.substr(0, header.size() - 1)));
    return true;
}

std::size_t index_in(const Fields& values, const fs::path& path, PointFinder& finder) {
    const auto index = finder.index_of(values);
    if (!index)
        refuse(path, fmt::format("the point {} is not in this grid", fmt::join(values, ", ")));
    return *index;
}

Parsed parse(const std::string& content, const fs::path& path, const Grid& grid) {
    const Fields columns = csv_columns(grid.keys());
    std::string_view rest = content;
    if (!take_header(rest, path, columns)) return {};
    Parsed parsed;
    PointFinder finder(grid);
    std::vector<bool> seen(grid.sweep.points(), false);
    while (const std::optional<Fields> fields = text::take_csv_row(rest)) {
        if (fields->size() != columns.size())
            refuse(path,
                   fmt::format("a row has {} fields, not {}", fields->size(), columns.size()));
        SweepRow row = row_of_csv(*fields, grid.sweep.keys.size());
        row.index = index_in(row.values, path, finder);
        if (!seen[row.index]) parsed.rows.push_back(std::move(row));
        seen[row.index] = true;
    }
    parsed.whole = content.size() - rest.size();
    return parsed;
}

}  // namespace

std::vector<SweepRow> rows_in(const fs::path& path, const Grid& grid) {
    std::error_code error;
    if (!fs::exists(path, error)) return {};
    std::string content;
    try {
        content = read_file(path, kLongestResults);
    } catch (const WorldError&) {
        if (fs::exists(path, error)) throw;
        return {};  // it was just merged
    } catch (const InputError&) {
        if (fs::exists(path, error)) throw;
        return {};
    }
    return parse(content, path, grid).rows;
}

FollowedFile::FollowedFile(fs::path path, const Grid& grid) : path_(std::move(path)), grid_(grid) {}

void FollowedFile::read_on(const std::function<void(std::size_t index)>& found) {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return;  // not begun, or merged just now
    if (fd < 0) fail(path_, "cannot be read");
    const std::unique_ptr<const int, void (*)(const int*)> closed(
        &fd, [](const int* open) { ::close(*open); });
    struct stat status {};
    if (::fstat(fd, &status) != 0) fail(path_, "cannot be read");
    const std::pair<std::uint64_t, std::uint64_t> file{status.st_dev, status.st_ino};
    const std::size_t size = status.st_size;
    if (file != file_ || size < read_) read_ = 0;
    file_ = file;
    std::string text;
    while (read_ + text.size() < size) {
        const std::size_t had = text.size();
        const std::size_t more = std::min(kReadAtOnce, size - read_ - had);
        text.resize(had + more);
        const ssize_t got = ::pread(fd, text.data() + had, more, static_cast<off_t>(read_ + had));
        if (got < 0) fail(path_, "cannot be read");
        text.resize(had + got);
        if (got == 0) return;
        std::string_view rest = text;
        take_rows(rest, found);
        read_ += text.size() - rest.size();
        text.erase(0, text.size() - rest.size());
    }
}

void FollowedFile::take_rows(std::string_view& text,
                             const std::function<void(std::size_t index)>& found) {
    if (read_ == 0 && !take_header(text, path_, csv_columns(grid_.keys()))) return;
    PointFinder finder(grid_);
    std::optional<std::string_view> last;
    while (const auto row = text::take_csv_line(text)) {
        found(index_in(text::csv_fields_at_start(*row, grid_.sweep.keys.size()), path_, finder));
        last = row;
    }
    if (last) last_row_ = *last;
}

bool FollowedFile::is_marked() const {
    std::string_view row = last_row_;
    const auto fields = text::take_csv_row(row);
    return fields && fields->size() == csv_columns(grid_.keys()).size() &&
           row_of_csv(*fields, grid_.sweep.keys.size()).pareto.has_value();
}

ResultsFile::ResultsFile(fs::path path, const Grid& grid)
    : path_(std::move(path)), header_(csv_columns(grid.keys())) {
    open_locked();
    try {
        remove_leftovers(path_);
        remove_leftovers(basis_file_of(path_));
        read_rows(grid);
    } catch (...) {
        ::close(fd_);
        throw;
    }
}

ResultsFile::~ResultsFile() {
    ::close(fd_);
}

void ResultsFile::open_locked() {
    std::error_code error;
    if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), error);
    for (;;) {
        fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (fd_ < 0) fail(path_, "cannot be written");
        if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
            ::close(fd_);
            throw ResultsInUse(fmt::format("{}: another sweep is writing it", path_.string()));
        }
        // Between open and lock, another sweep may have finished and replaced the file.
        struct stat held {};
        struct stat named {};
        if (::fstat(fd_, &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
            held.st_ino == named.st_ino && held.st_dev == named.st_dev)
            return;
        ::close(fd_);
    }
}

void ResultsFile::read_rows(const Grid& grid) {
    const std::string content = read_file(path_, kLongestResults);
    Parsed parsed = parse(content, path_, grid);
    if (parsed.whole == 0) {  // new, or its process was killed while starting
        const std::string header = text::write_csv_row(header_);
        if (::ftruncate(fd_, 0) != 0) fail(path_, "cannot be truncated");
        if (::write(fd_, header.data(), header.size()) != static_cast<ssize_t>(header.size()))
            fail(path_, "cannot be written");
        return;
    }
    found_ = std::move(parsed.rows);
    if (parsed.whole < content.size() && ::ftruncate(fd_, static_cast<off_t>(parsed.whole)) != 0)
        fail(path_, "cannot be truncated");
}

void ResultsFile::append(const SweepRow& row) {
    const std::string text = text::write_csv_row(csv_fields(row));
    const std::lock_guard lock(mutex_);
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size())) {
        if (written >= 0) errno = ENOSPC;
        fail(path_, "cannot be written");
    }
}

void ResultsFile::replace(const std::vector<SweepRow>& rows) {
    write_file(path_, [&](std::ostream& out) {
        out << text::write_csv_row(header_);
        for (const SweepRow& row : rows) out << text::write_csv_row(csv_fields(row));
    });
}

}  // namespace debubble::sim
