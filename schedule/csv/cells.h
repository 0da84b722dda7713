#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

/// The lines and cells of a comma-separated file that has one row per rank.
namespace debubble {

/// A view into the file's text, without the blanks at both ends.
struct Cell {
    int line = 0;
    int column = 0;
    std::string_view text;
};

using CellRow = std::vector<Cell>;

/// Splits at commas and line ends (LF or CRLF). Blank cells are left out, and blank lines at the
/// end are not rows. Skips a byte order mark.
std::vector<CellRow> split_cells(std::string_view text);

/// Collects the mistakes of one file. A hostile file cannot make it grow without bound: above a
/// limit, mistakes are only counted.
class Mistakes {
public:
    Mistakes(std::string_view text, std::string file);

    void add(const Cell& cell, std::string message);
    void add(int line, int column, std::string message);
    void add_for_file(std::string message);
    /// Throws InputError if there was a mistake.
    void throw_if_any();

private:
    std::string_view text_;
    std::string file_;
    std::vector<std::size_t> line_begins_;
    std::vector<Diagnostic> diagnostics_;
    std::size_t kept_bytes_ = 0;
    std::size_t left_out_ = 0;
};

}  // namespace debubble
