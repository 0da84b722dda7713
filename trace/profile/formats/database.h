#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace debubble::profile {

/// A row of a query during the visit.
class Row {
public:
    explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
    bool is_null(int column) const;
    std::int64_t number(int column) const;  ///< 0 for a null
    std::string text(int column) const;     ///< empty for a null

private:
    sqlite3_stmt* statement_;
};

/// A read-only SQLite database. Every mistake in it is an InputError that names the file and the
/// table.
class Database {
public:
    explicit Database(std::string file);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    const std::string& file() const { return file_; }
    /// The columns of a table; none if the database has no such table.
    std::set<std::string> columns(const std::string& table) const;
    /// Calls visit for each row of SELECT `columns` FROM `table`, in the order of the rows.
    void each(const std::string& table, const std::vector<std::string>& columns,
              const std::function<void(const Row&)>& visit) const;
    [[noreturn]] void refuse(const std::string& sentence) const;

private:
    std::string file_;
    sqlite3* handle_ = nullptr;
};

}  // namespace debubble::profile
