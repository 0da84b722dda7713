#include "trace/profile/formats/database.h"

#include <sqlite3.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::profile {
namespace {

struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

constexpr std::int64_t kMostRows = 200'000'000;

/// A name in quotes, as SQL has them.
std::string quoted_name(const std::string& name) {
    std::string out = "\"";
    for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

}  // namespace

bool Row::is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Row::number(int column) const {
    return sqlite3_column_int64(statement_, column);
}

std::string Row::text(int column) const {
    const auto* const bytes = sqlite3_column_text(statement_, column);
    if (bytes == nullptr) return {};
    return {reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Database::Database(std::string file) : file_(std::move(file)) {
    const int error = sqlite3_open_v2(file_.c_str(), &handle_,
                                      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
    if (error != SQLITE_OK) {
        const std::string words =
            handle_ == nullptr ? "there is no memory for it" : sqlite3_errmsg(handle_);
        sqlite3_close(handle_);
        handle_ = nullptr;
        refuse(fmt::format("this database cannot be opened: {}", words));
    }
    // A foreign file must not run code of its own: no triggers, views or functions.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, 1 << 24);
    note_file_read(file_);
}

Database::~Database() {
    sqlite3_close(handle_);
}

void Database::refuse(const std::string& sentence) const {
    throw InputError({Diagnostic{{file_, 0, 0}, sentence, {}}});
}

std::set<std::string> Database::columns(const std::string& table) const {
    std::set<std::string> out;
    sqlite3_stmt* raw = nullptr;
    const std::string query = fmt::format("PRAGMA table_info({})", quoted_name(table));
    if (sqlite3_prepare_v2(handle_, query.c_str(), -1, &raw, nullptr) != SQLITE_OK)
        refuse(fmt::format("its list of tables cannot be read: {}", sqlite3_errmsg(handle_)));
    const Statement statement(raw);
    while (sqlite3_step(raw) == SQLITE_ROW) out.insert(Row(raw).text(1));
    return out;
}

void Database::each(const std::string& table, const std::vector<std::string>& columns,
                    const std::function<void(const Row&)>& visit) const {
    std::string query = "SELECT ";
    for (std::size_t i = 0; i < columns.size(); ++i)
        query += (i == 0 ? "" : ", ") +
                 (columns[i] == "NULL" ? std::string("NULL") : quoted_name(columns[i]));
    query += " FROM " + quoted_name(table);
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(handle_, query.c_str(), -1, &raw, nullptr) != SQLITE_OK)
        refuse(fmt::format("its table {} cannot be read: {}", table, sqlite3_errmsg(handle_)));
    const Statement statement(raw);
    std::int64_t rows = 0;
    int step = SQLITE_ROW;
    while ((step = sqlite3_step(raw)) == SQLITE_ROW) {
        if (++rows > kMostRows) refuse(fmt::format("its table {} has too many rows", table));
        visit(Row(raw));
    }
    if (step != SQLITE_DONE)
        refuse(fmt::format("its table {} is damaged at row {}: {}", table, rows + 1,
                           sqlite3_errmsg(handle_)));
}

}  // namespace debubble::profile
