#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

/// Rows of the measured tables, which are not part of the repository: the folder is
/// named by DEBUBBLE_MEASURED_DIR.
namespace debubble::models {

#define SKIP_WITHOUT_MEASUREMENTS()                      \
    if (std::getenv("DEBUBBLE_MEASURED_DIR") == nullptr) \
    GTEST_SKIP() << "DEBUBBLE_MEASURED_DIR is not set: no measurements to compare with"

using Row = std::map<std::string, std::string>;  ///< column -> cell

/// Cells of a line; a quoted cell may hold commas.
inline std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else {
            cells.back() += c;
        }
    }
    return cells;
}

inline std::vector<Row> measured_rows(const std::string& file) {
    std::ifstream in(std::string(std::getenv("DEBUBBLE_MEASURED_DIR")) + "/" + file);
    std::vector<Row> rows;
    std::vector<std::string> header;
    for (std::string line; std::getline(in, line);) {
        const std::vector<std::string> cells = cells_of(line);
        if (header.empty()) {
            header = cells;
            continue;
        }
        Row row;
        for (std::size_t i = 0; i < cells.size() && i < header.size(); ++i) {
            row[header[i]] = cells[i];
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

inline std::int64_t whole(const Row& row, const char* column) {
    return std::stoll(row.at(column));
}
inline double real(const Row& row, const char* column) {
    return std::stod(row.at(column));
}

}  // namespace debubble::models
