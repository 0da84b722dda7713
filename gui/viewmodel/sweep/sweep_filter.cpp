#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/units.h"
#include "gui/viewmodel/sweep/sweep_table.h"

/// The filter of a sweep's rows.
namespace debubble::gui {
namespace {

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// A word such as "pipeline>=2" in its parts; an empty name if it is not a comparison.
struct Comparison {
    std::string name;
    std::string sign;
    std::string value;
};

Comparison comparison_of(const std::string& word) {
    const std::size_t at = word.find_first_of("<>=");
    if (at == std::string::npos || at == 0) return {};
    const std::size_t value = word.find_first_not_of("<>=", at);
    if (value == std::string::npos) return {};
    return {lower(word.substr(0, at)), word.substr(at, value - at), lower(word.substr(value))};
}

/// The column of a name: the last part of its key, or else a part of its title.
std::size_t column_meant(const std::vector<SweepColumn>& columns, const std::string& name) {
    const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c].key == name || last(columns[c].key) == name) return c;
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (lower(columns[c].title).find(name) != std::string::npos) return c;
    return columns.size();
}

bool compares(double number, const std::string& sign, double value) {
    if (sign == "<") return number < value;
    if (sign == "<=") return number <= value;
    if (sign == ">") return number > value;
    if (sign == ">=") return number >= value;
    return number == value;
}

/// The unit in which a column is shown.
double unit_of(const SweepColumn& column) {
    return column.title.ends_with("[GiB]") ? kGiB : 1;
}

}  // namespace

bool SweepTable::contains(std::size_t row, const std::string& word) const {
    const std::string wanted = lower(word);
    for (std::size_t c = 0; c < columns_.size(); ++c)
        if ((c < keys_ || !columns_[c].numeric) && columns_[c].key != "unvalidated" &&
            lower(text(row, c)).find(wanted) != std::string::npos)
            return true;
    return false;
}

bool SweepTable::meets(std::size_t row, const std::string& word) const {
    if (word.starts_with('!') && word.size() > 1) return !meets(row, word.substr(1));
    const Comparison compared = comparison_of(word);
    const std::size_t column =
        compared.name.empty() ? columns_.size() : column_meant(columns_, compared.name);
    if (column == columns_.size()) return contains(row, word);
    double value = 0;
    const char* end = compared.value.data() + compared.value.size();
    const auto read = std::from_chars(compared.value.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end)
        return lower(text(row, column)).find(compared.value) != std::string::npos;
    const auto own = number(row, column);
    return own && compares(*own / unit_of(columns_[column]), compared.sign, value);
}

}  // namespace debubble::gui
