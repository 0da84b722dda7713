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

std::optional<std::vector<std::string>> take_csv_row(std::string_view& text) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool doubled = quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"';
        if (doubled) {
            fields.back() += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (quoted || (c != ',' && c != '\n')) {
            fields.back() += c;
        } else if (c == ',') {
            fields.emplace_back();
        } else {
            text.remove_prefix(i + 1);
            return fields;
        }
    }
    return std::nullopt;
}

}  // namespace debubble::text
