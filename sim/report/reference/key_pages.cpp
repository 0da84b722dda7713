#include "sim/report/reference/key_pages.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/wording.h"

namespace debubble::sim {
namespace {

using text::Key;
using text::KeyAt;

/// The example in its context: "parallel: {tensor: 8}".
std::string example_text(const KeyAt& at) {
    std::string text = at.key->example;
    std::string path = at.path;
    for (std::size_t dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
        text = fmt::format("{{{}: {}}}", path.substr(dot + 1), text);
        path.resize(dot);
    }
    return fmt::format("{}: {}", path, text);
}

std::string default_text(const Key& key) {
    if (key.required) return "none: it must be given";
    return key.otherwise.empty() ? "none" : key.otherwise;
}

void add_line(std::string& out, std::string_view label, const std::string& content) {
    constexpr std::size_t kIndent = 11;
    bool first = true;
    for (const std::string& line : text::wrapped(content, text::kReportColumns - kIndent, 0)) {
        out += fmt::format("  {:<9}{}\n", first ? label : "", line);
        first = false;
    }
}

/// Text for a cell of a table in Markdown.
std::string cell_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

void add_table(std::string& page, std::span<const Key> keys) {
    page += "| key | meaning | value | default | example |\n|---|---|---|---|---|\n";
    for (const Key& key : keys)
        page += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, cell_text(key.meaning),
                            cell_text(text::text_of(key.forms)), cell_text(default_text(key)),
                            key.example.empty() ? "" : fmt::format("`{}`", cell_text(key.example)));
}

constexpr const char* kHead = R"(# Every key of a scenario

This page is written by `debubble help --markdown`, from the tables by which the files are read.
`debubble help KEY` shows one key in a terminal, and the schemas in `docs/schemas` tell an editor the
same (yaml-language-server: a first line `# yaml-language-server: $schema=PATH`).

The keys under `model`, `cluster` and `framework` are also those of the files in `models/zoo`,
`scenarios/clusters` and `scenarios/frameworks`. A key without a value (`key:` or `key: ~`) counts as
not given. Any key can be changed from the command line by its path: `--set parallel.tensor=8`.

)";

}  // namespace

std::string key_list(std::span<const Key> keys, const std::string& prefix) {
    std::size_t width = 0;
    for (const Key& key : keys) width = std::max(width, prefix.size() + key.name.size());
    std::string out;
    for (const Key& key : keys) {
        const std::size_t indent = width + 4;
        std::string meaning;
        for (const std::string& line : text::wrapped(key.meaning, text::kReportColumns - indent, 0))
            meaning += (meaning.empty() ? "" : '\n' + std::string(indent, ' ')) + line;
        out += fmt::format("  {:<{}}  {}\n", prefix + key.name, width, meaning);
    }
    return out;
}

std::string key_text(const KeyAt& at) {
    const Key& key = *at.key;
    std::string out = at.path + '\n';
    for (const std::string& line : text::wrapped(key.meaning, text::kReportColumns - 2, 0))
        out += fmt::format("  {}\n", line);
    out += '\n';
    add_line(out, "value", text::text_of(key.forms));
    add_line(out, "default", default_text(key));
    if (!key.example.empty()) add_line(out, "example", example_text(at));
    const std::span<const Key> inner = text::keys_in(key);
    if (!inner.empty()) out += "\nits keys:\n" + key_list(inner, at.path + '.');
    return out;
}

std::string key_page(std::span<const Key> keys) {
    std::string page = kHead;
    add_table(page, keys);
    for (const KeyAt& at : text::flattened(keys)) {
        const auto* grid = at.key->forms.empty()
                               ? nullptr
                               : std::get_if<text::GridForm>(&at.key->forms.front().is);
        const std::span<const Key> inner = text::keys_in(*at.key);
        if (!inner.empty()) {
            page += fmt::format("\n## {}\n\n{}\n\n", at.path, at.key->meaning);
            add_table(page, inner);
        }
        if (grid == nullptr) continue;
        page += fmt::format("\n## {}.{}\n\nA range of values; `to` is included.\n\n", at.path,
                            text::kAnyPath);
        add_table(page, grid->range);
    }
    return page;
}

}  // namespace debubble::sim
