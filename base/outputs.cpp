#include "base/outputs.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestName = 200;  ///< bytes; with an ending it stays below the 255 of a
                                           ///< file system

/// The file that will be replaced or created; nothing for a device or a pipe, which are written to.
std::optional<fs::path> replaced_by(const std::string& where) {
    std::error_code error;
    const fs::file_type kind = fs::status(where, error).type();
    if (kind != fs::file_type::regular && kind != fs::file_type::not_found) return std::nullopt;
    fs::path whole = fs::weakly_canonical(fs::absolute(where, error), error);
    return error ? fs::path(where).lexically_normal() : whole;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
    std::error_code error;
    return a == b || (fs::equivalent(a, b, error) && !error);
}

}  // namespace

void Outputs::add(std::string_view option, const std::string& where) {
    if (!where.empty()) outputs_.push_back({std::string(option), where});
}

void Outputs::check() const {
    const std::vector<fs::path> read = files_read();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const auto& [option, where] = outputs_[i];
        for (std::size_t j = 0; j < i && where == "-"; ++j)
            if (outputs_[j].where == "-")
                throw InputError(fmt::format("only one of {} and {} can go to standard output",
                                             outputs_[j].option, option));
        const auto mine = where == "-" ? std::nullopt : replaced_by(where);
        if (!mine) continue;
        for (std::size_t j = 0; j < i; ++j) {
            const auto other =
                outputs_[j].where == "-" ? std::nullopt : replaced_by(outputs_[j].where);
            if (other && is_same_file(*mine, *other))
                throw InputError(fmt::format("{} and {} both write {}: give each its own file",
                                             outputs_[j].option, option, printable(where)));
        }
        if (std::ranges::any_of(read, [&](const fs::path& file) {
                const auto from = replaced_by(file.string());
                return from && is_same_file(*mine, *from);
            }))
            throw InputError(
                fmt::format("{} would overwrite {}, from which the result is made: give another "
                            "file",
                            option, printable(where)));
    }
}

std::string file_name_of(std::string_view name, std::string_view what) {
    const auto refuse = [&](std::string_view why) {
        throw InputError(fmt::format("the {} '{}' cannot name a file: {}", what,
                                     printable(name.substr(0, kLongestName)), why));
    };
    if (name.empty()) refuse("it is empty");
    if (name == "." || name == "..") refuse("it is a folder");
    if (name.find('/') != std::string_view::npos) refuse("it has a '/'");
    if (name.size() > kLongestName) refuse("it is too long");
    if (!is_printable(name)) refuse("it has control characters");
    return std::string(name);
}

}  // namespace debubble
