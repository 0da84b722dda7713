#include "scenarios/read/edit.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "scenarios/read/scenario_tree.h"
#include "text/document.h"
#include "text/document_readers.h"

namespace debubble::scenarios {
namespace {

using text::Node;
using text::NodePtr;
using text::SourcePosition;

std::vector<std::string> parts_of(std::string_view key) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= key.size();) {
        const std::size_t dot = std::min(key.find('.', from), key.size());
        parts.emplace_back(key.substr(from, dot - from));
        from = dot + 1;
    }
    return parts;
}

std::size_t line_end(std::string_view text, std::size_t from) {
    return std::min(text.find('\n', from), text.size());
}

std::size_t offset_of(std::string_view text, const SourcePosition& place) {
    std::size_t at = 0;
    for (int line = 1; line < place.line && at < text.size(); ++line) at = line_end(text, at) + 1;
    return std::min(at + static_cast<std::size_t>(place.column - 1), text.size());
}

bool starts_at(std::string_view text, std::size_t at, std::string_view any_of) {
    return at < text.size() && any_of.find(text[at]) != std::string_view::npos;
}

/// The position after the quoted word that starts at `from`.
std::size_t after_quotes(std::string_view text, std::size_t from) {
    const char quote = text[from];
    for (std::size_t i = from + 1; i < text.size(); ++i) {
        if (quote == '"' && text[i] == '\\')
            ++i;
        else if (text[i] == quote)
            return i + 1;
    }
    return text.size();
}

/// The position after the bracket that closes the one at `from`. Brackets in comments do not count.
std::size_t after_brackets(std::string_view text, std::size_t from) {
    int depth = 0;
    for (std::size_t i = from; i < text.size(); ++i) {
        if (starts_at(text, i, "\"'") && starts_at(text, i - 1, " ,:[{\n")) {
            i = after_quotes(text, i) - 1;
        } else if (text[i] == '#' && starts_at(text, i - 1, " \n")) {
            i = line_end(text, i);
        } else if (starts_at(text, i, "{[")) {
            ++depth;
        } else if (starts_at(text, i, "}]") && --depth == 0) {
            return i + 1;
        }
    }
    return text.size();
}

/// The position after a plain word; in flow style it also ends at a comma or bracket.
std::size_t after_word(std::string_view text, std::size_t from, bool in_flow) {
    std::size_t end = from;
    for (std::size_t i = from; i < text.size() && text[i] != '\n'; ++i) {
        if (in_flow && starts_at(text, i, ",}]")) break;
        if (text[i] == '#' && i > from && text[i - 1] == ' ') break;
        if (text[i] != ' ') end = i + 1;
    }
    return end;
}

/// The position after the last line that is indented deeper than `column` (from 1), or as deep and
/// part of a list.
std::size_t after_block(std::string_view text, std::size_t from, int column) {
    std::size_t end = line_end(text, from);
    for (std::size_t at = end + 1; at < text.size(); at = line_end(text, at) + 1) {
        const std::size_t word = text.find_first_not_of(' ', at);
        if (word == std::string_view::npos) break;
        if (text[word] == '\n' || text[word] == '#') continue;
        const int indent = static_cast<int>(word - at) + 1;
        if (indent < column || (indent == column && text[word] != '-')) break;
        end = line_end(text, at);
    }
    return end;
}

/// The end of the path along a key: its value, or the last map on the path.
struct Found {
    const Node* node = nullptr;
    const Node::Entry* entry = nullptr;  ///< the entry whose value `node` is; null for the root
    std::size_t parts = 0;               ///< number of parts of the key that exist
    bool in_flow = false;                ///< `node` is between brackets
};

Found find(const NodePtr& root, const std::vector<std::string>& parts, std::string_view text) {
    Found found{root.get(), nullptr, 0, false};
    while (found.parts < parts.size() && found.node->is(Node::Kind::Map)) {
        const Node::Entry* entry = found.node->find(parts[found.parts]);
        if (entry == nullptr) break;
        found.in_flow =
            found.in_flow ||
            (found.entry != nullptr && starts_at(text, offset_of(text, found.node->place), "{["));
        found = {entry->value.get(), entry, found.parts + 1, found.in_flow};
    }
    return found;
}

/// The text `b: {c: value}` for the parts of a key that do not exist yet.
std::string nested(const std::vector<std::string>& parts, std::size_t from,
                   const std::string& value) {
    std::string text = value;
    for (std::size_t i = parts.size(); i-- > from;)
        text = i > from ? '{' + parts[i] + ": " + text + '}' : parts[i] + ": " + text;
    return text;
}

std::string replaced(const std::string& text, const Found& found, const std::string& value) {
    const std::size_t key = offset_of(text, found.entry->place);
    const std::size_t begin = offset_of(text, found.node->place);
    if (found.node->is(Node::Kind::Null) && !starts_at(text, begin, "~n")) {
        const std::size_t colon = text.find(':', key) + 1;  // "key:" without a value
        return text.substr(0, colon) + ' ' + value + text.substr(colon);
    }
    if (starts_at(text, begin, "{["))
        return text.substr(0, begin) + value + text.substr(after_brackets(text, begin));
    if (starts_at(text, begin, "\"'"))
        return text.substr(0, begin) + value + text.substr(after_quotes(text, begin));
    if (found.node->is(Node::Kind::Scalar) || found.node->is(Node::Kind::Null))
        return text.substr(0, begin) + value + text.substr(after_word(text, begin, found.in_flow));
    const std::size_t colon = text.find(':', key) + 1;
    return text.substr(0, colon) + ' ' + value +
           text.substr(after_block(text, key, found.entry->place.column + 1));
}

std::string added(const std::string& text, const Found& map, const std::string& entry) {
    const std::size_t begin = offset_of(text, map.node->place);
    if (starts_at(text, begin, "{")) {
        const std::size_t end = after_brackets(text, begin) - 1;
        const std::size_t last = text.find_last_not_of(" \n", end - 1) + 1;
        return text.substr(0, last) + (map.node->entries.empty() ? "" : ", ") + entry +
               text.substr(end);
    }
    if (map.node->entries.empty()) return text + (text.ends_with('\n') ? "" : "\n") + entry + '\n';
    const SourcePosition& first = map.node->entries.front().place;
    const Node::Entry& last = map.node->entries.back();
    const std::size_t end = after_block(text, offset_of(text, last.place), last.place.column + 1);
    const std::string indent(first.column - 1, ' ');
    return text.substr(0, end) + '\n' + indent + entry +
           (end < text.size() ? text.substr(end) : "\n");
}

const Node* at_path(const NodePtr& root, const std::vector<std::string>& parts) {
    const Node* node = root.get();
    for (const std::string& part : parts) {
        if (!node->is(Node::Kind::Map)) return nullptr;
        const Node::Entry* entry = node->find(part);
        if (entry == nullptr) return nullptr;
        node = entry->value.get();
    }
    return node;
}

std::string edited(const std::string& text, const NodePtr& root, const NodePtr& wanted,
                   const Override& change) {
    std::vector<std::string> parts = parts_of(change.first);
    const Found found = find(root, parts, text);
    if (found.parts == parts.size()) return replaced(text, found, change.second);
    if (found.node->is(Node::Kind::Map) ||
        (found.entry == nullptr && found.node->is(Node::Kind::Null)))
        return added(text, found, nested(parts, found.parts, change.second));
    parts.resize(found.parts);  // the path leads through a word: the short form of a map
    return replaced(text, found, text::to_flow(*at_path(wanted, parts)));
}

std::string written_anew(const Node& root) {
    std::string text;
    for (const Node::Entry& entry : root.entries)
        text += entry.key + ": " + text::to_flow(*entry.value) + '\n';
    return text;
}

void collect_changes(const Node& before, const Node& after, const std::string& path,
                     std::vector<Override>& changes) {
    const auto at = [&](const std::string& key) { return path.empty() ? key : path + '.' + key; };
    for (const Node::Entry& entry : after.entries) {
        if (path.empty() && entry.key == "sweep") continue;
        const Node::Entry* old = before.find(entry.key);
        const std::string value = text::to_flow(*entry.value);
        if (old != nullptr && text::to_flow(*old->value) == value) continue;
        if (old != nullptr && old->value->is(Node::Kind::Map) && entry.value->is(Node::Kind::Map))
            collect_changes(*old->value, *entry.value, at(entry.key), changes);
        else
            changes.emplace_back(at(entry.key), value);
    }
    for (const Node::Entry& entry : before.entries)
        if (after.find(entry.key) == nullptr && !(path.empty() && entry.key == "sweep"))
            changes.emplace_back(at(entry.key), "~");
}

bool reads_as(const std::string& text, const std::string& file, const std::string& wanted) {
    try {
        return text::to_flow(*text::parse_yaml(text, file)) == wanted;
    } catch (const InputError&) {
        return false;
    }
}

}  // namespace

std::string with_key(const std::string& text, const std::string& file, const Override& change) {
    const NodePtr root = text::parse_yaml(text, file);
    const NodePtr wanted = with_overrides(root, {change});
    std::string candidate = edited(text, root, wanted, change);
    return reads_as(candidate, file, text::to_flow(*wanted)) ? candidate : written_anew(*wanted);
}

std::string with_block(const std::string& text, const std::string& file, const std::string& key,
                       const std::string& block) {
    return with_key(text, file, {key, text::to_flow(*text::parse_yaml(block, key))});
}

std::vector<Override> entries_at(const std::string& text, const std::string& file,
                                 const std::string& key) {
    text::ShippedFiles shipped;
    const NodePtr root = with_includes(text::parse_yaml(text, file), shipped);
    std::vector<Override> entries;
    if (const Node* map = at_path(root, parts_of(key)))
        for (const Node::Entry& entry : map->entries)
            entries.emplace_back(entry.key, text::to_flow(*entry.value));
    return entries;
}

std::vector<Override> changes_between(const std::string& before, const std::string& after,
                                      const std::string& file) {
    text::ShippedFiles shipped;
    const NodePtr old = with_includes(text::parse_yaml(before, file), shipped);
    const NodePtr now = with_includes(text::parse_yaml(after, file), shipped);
    std::vector<Override> changes;
    collect_changes(*old, *now, {}, changes);
    return changes;
}

std::optional<std::string> written_at(const std::string& text, const std::string& file,
                                      const std::string& key) {
    text::ShippedFiles shipped;
    const NodePtr root = with_includes(text::parse_yaml(text, file), shipped);
    std::vector<std::string> parts = parts_of(key);
    const Node* node = at_path(root, parts);
    if (node == nullptr && parts.back() == "name") {
        parts.pop_back();
        node = at_path(root, parts);
        if (node != nullptr && !node->is(Node::Kind::Scalar)) node = nullptr;
    }
    if (node == nullptr || node->is(Node::Kind::Null)) return std::nullopt;
    return node->is(Node::Kind::Scalar) ? node->scalar : text::to_flow(*node);
}

std::string key_at(const std::string& text, const std::string& file, int line, int column) {
    const NodePtr root = text::parse_yaml(text, file);
    const auto is_before = [&](const SourcePosition& place) {
        return place.line < line || (place.line == line && place.column <= column);
    };
    std::string key;
    for (const Node* node = root.get(); node->is(Node::Kind::Map);) {
        const Node::Entry* last = nullptr;
        for (const Node::Entry& entry : node->entries)
            if (is_before(entry.place)) last = &entry;
        if (last == nullptr) break;
        key += (key.empty() ? "" : ".") + last->key;
        node = last->value.get();
    }
    return key;
}

}  // namespace debubble::scenarios
