#include "text/csv_row.h"

#include <algorithm>

namespace debubble::text {

namespace {

bool needs_quotes(std::string_view field) {
    return std::ranges::any_of(
        field, [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; });
}

}  // namespace

std::string write_csv_row(const std::vector<std::string>& fields) {
    std::string row;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) row += ',';
        if (!needs_quotes(fields[i])) {
            row += fields[i];
            continue;
        }
        row += '"';
        for (const char c : fields[i]) {
            if (c == '"') row += '"';
            row += c;
        }
        row += '"';
    }
    return row += '\n';
}

namespace {

/// The first `most` fields of the first row; `end` is behind what was read of it, and `whole` set
/// if that is the row's end.
std::vector<std::string> read_fields(std::string_view text, std::size_t most, std::size_t& end,
                                     bool& whole) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    whole = false;
    for (end = 0; end < text.size(); ++end) {
        const char c = text[end];
        const bool doubled = quoted && c == '"' && end + 1 < text.size() && text[end + 1] == '"';
        if (doubled) {
            fields.back() += '"';
            ++end;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (quoted || (c != ',' && c != '\n')) {
            fields.back() += c;
        } else if (c == ',') {
            if (fields.size() == most) return fields;
            fields.emplace_back();
        } else {
            whole = true;
            ++end;
            return fields;
        }
    }
    return fields;
}

}  // namespace

std::optional<std::vector<std::string>> take_csv_row(std::string_view& text) {
    std::size_t end = 0;
    bool whole = false;
    std::vector<std::string> fields = read_fields(text, text.size() + 1, end, whole);
    if (!whole) return std::nullopt;
    text.remove_prefix(end);
    return fields;
}

std::optional<std::string_view> take_csv_line(std::string_view& text) {
    bool quoted = false;
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find('\n', begin);
        if (end == std::string_view::npos) return std::nullopt;
        if (std::ranges::count(text.substr(begin, end - begin), '"') % 2 != 0) quoted = !quoted;
        begin = end + 1;
        if (quoted) continue;
        const std::string_view line = text.substr(0, begin);
        text.remove_prefix(begin);
        return line;
    }
}

std::vector<std::string> csv_fields_at_start(std::string_view row, std::size_t count) {
    std::size_t end = 0;
    bool whole = false;
    return read_fields(row, count, end, whole);
}

}  // namespace debubble::text
