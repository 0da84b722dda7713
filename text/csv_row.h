#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// One row of a comma-separated file with quoted fields (RFC 4180), ended by '\n'.
namespace debubble::text {

std::string write_csv_row(const std::vector<std::string>& fields);

/// Takes the first row off `text`. Returns nothing, and leaves `text` as it is, if the row has no
/// end yet because its writing was interrupted.
std::optional<std::vector<std::string>> take_csv_row(std::string_view& text);

/// The same, but as the text of the row with its end, whose fields are not read.
std::optional<std::string_view> take_csv_line(std::string_view& text);

/// The first `count` fields of a row, or all if it has fewer.
std::vector<std::string> csv_fields_at_start(std::string_view row, std::size_t count);

}  // namespace debubble::text
