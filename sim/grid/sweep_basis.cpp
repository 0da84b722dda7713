#include "sim/grid/grid.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/sha256.h"
#include "scenarios/read/edit.h"

namespace debubble::sim {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongest = std::size_t{16} << 20U;

/// One line per input: its name, a tab, its hash.
std::string to_text(const Basis& basis) {
    std::string text;
    for (const auto& [what, hash] : basis) text += fmt::format("{}\t{}\n", what, hash);
    return text;
}

Basis parse(std::string_view text) {
    Basis basis;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t tab = line.rfind('\t');
        if (tab != std::string_view::npos) basis.emplace(line.substr(0, tab), line.substr(tab + 1));
    }
    return basis;
}

}  // namespace

Basis basis_of(const std::string& text, const std::string& file,
               const std::vector<scenarios::Override>& pinned) {
    std::string settings;
    for (const auto& [key, value] : pinned) settings += key + '\0' + value + '\0';
    return {{"the scenario", sha256(scenarios::with_block(text, file, "sweep", "{}"))},
            {"what --set says", sha256(settings)}};
}

void add_files_read(Basis& basis, const fs::path& scenario) {
    for (const fs::path& path : files_read()) {
        std::error_code error;
        if (fs::equivalent(path, scenario, error) || error) continue;
        if (fs::file_size(path, error) > kLongest || error) continue;
        const fs::path whole = fs::absolute(path).lexically_normal();
        basis.emplace(fmt::format("the file {}", whole.string()), sha256(read_file(path)));
    }
}

fs::path basis_file_of(const fs::path& results) {
    fs::path file = results;
    file += ".scenario";
    return file;
}

void keep_basis(const fs::path& results, const Basis& basis, bool new_results) {
    const fs::path file = basis_file_of(results);
    std::error_code error;
    if (new_results) return write_file(file, to_text(basis));
    if (!fs::exists(file, error)) return;
    const std::string text = read_file(file, kLongest);
    Basis all = parse(text);
    for (const auto& [what, hash] : basis) {
        const auto [then, is_new] = all.emplace(what, hash);
        if (!is_new && then->second != hash)
            throw InputError(fmt::format(
                "{} holds other results: {} has changed since they were made; remove the file, or "
                "give another --out",
                results.string(), what));
    }
    if (const std::string now = to_text(all); now != text) write_file(file, now);
}

}  // namespace debubble::sim
