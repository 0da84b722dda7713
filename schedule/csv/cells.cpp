#include "schedule/csv/cells.h"

#include <fmt/format.h>

namespace debubble {
namespace {

constexpr std::size_t kMostMistakes = 100;
constexpr std::size_t kMostKeptBytes = 16u << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlank = " \t\r";

CellRow cells_of(std::string_view line, int number, int first_column) {
    CellRow row;
    for (std::size_t begin = 0; begin <= line.size();) {
        const std::size_t end = std::min(line.find(',', begin), line.size());
        const std::size_t first = line.find_first_not_of(kBlank, begin);
        if (first < end) {
            const std::size_t last = line.find_last_not_of(kBlank, end - 1);
            row.push_back({number, first_column + static_cast<int>(first),
                           line.substr(first, last - first + 1)});
        }
        begin = end + 1;
    }
    return row;
}

}  // namespace

std::vector<CellRow> split_cells(std::string_view text) {
    std::vector<CellRow> rows;
    int column = 1;
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
        column += static_cast<int>(kByteOrderMark.size());
    }
    for (std::size_t begin = 0; begin < text.size(); column = 1) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const int number = static_cast<int>(rows.size()) + 1;
        rows.push_back(cells_of(text.substr(begin, end - begin), number, column));
        begin = end + 1;
    }
    while (!rows.empty() && rows.back().empty()) rows.pop_back();
    return rows;
}

Mistakes::Mistakes(std::string_view text, std::string file)
    : text_(text), file_(std::move(file)), line_begins_{0} {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '\n') line_begins_.push_back(i + 1);
}

void Mistakes::add(const Cell& cell, std::string message) {
    add(cell.line, cell.column, std::move(message));
}

void Mistakes::add(int line, int column, std::string message) {
    if (diagnostics_.size() >= kMostMistakes || kept_bytes_ >= kMostKeptBytes) {
        ++left_out_;
        return;
    }
    std::string source = line_of(text_.substr(line_begins_[line - 1]), 1);
    kept_bytes_ += source.size() + message.size();
    diagnostics_.push_back({{file_, line, column}, std::move(message), std::move(source)});
}

void Mistakes::add_for_file(std::string message) {
    diagnostics_.push_back({{file_, 0, 0}, std::move(message), {}});
}

void Mistakes::throw_if_any() {
    if (diagnostics_.empty()) return;
    if (left_out_ > 0) {  // located at the last mistake shown, so that it is read last
        const Diagnostic& last = diagnostics_.back();
        diagnostics_.push_back({last.where,
                                fmt::format("{} more mistakes are not shown", left_out_),
                                last.source_line});
    }
    throw InputError(std::move(diagnostics_));
}

}  // namespace debubble
