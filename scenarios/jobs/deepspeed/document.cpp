#include <algorithm>

#include "base/diagnostic.h"
#include "scenarios/jobs/read/formats.h"
#include "text/document_readers.h"

/// DeepSpeed reads its JSON by hjson, whose comments and last commas plain JSON does not have.
namespace debubble::jobs {
namespace {

/// The text with spaces for comments and for commas before a bracket's end.
std::string plain_json(std::string text) {
    bool quoted = false;
    std::size_t comma = std::string::npos;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        if (quoted) {
            if (c == '\\') ++i;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
            comma = std::string::npos;
        } else if (c == '#' || (c == '/' && next == '/')) {
            for (; i < text.size() && text[i] != '\n'; ++i) text[i] = ' ';
        } else if (c == '/' && next == '*') {
            const std::size_t end = std::min(text.find("*/", i + 2), text.size() - 2);
            for (; i < end + 2; ++i)
                if (text[i] != '\n') text[i] = ' ';
            --i;
        } else if (c == ',') {
            comma = i;
        } else if (c == '}' || c == ']') {
            if (comma != std::string::npos) text[comma] = ' ';
            comma = std::string::npos;
        } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            comma = std::string::npos;
        }
    }
    return text;
}

/// An empty map has no keys, but it is not a value of a setting either.
void add_empty_maps(const text::Node& root, Settings& settings) {
    const text::NodePtr zero = root.get("zero_optimization");
    if (!zero || !zero->is(text::Node::Kind::Map)) return;
    for (const text::Node::Entry& entry : zero->entries)
        if (entry.value->is(text::Node::Kind::Map) && entry.value->entries.empty() &&
            !entry.key.starts_with("offload_"))
            settings.add({"zero_optimization." + entry.key, "zero_optimization." + entry.key,
                          entry.value, entry.place, true});
}

}  // namespace

void add_deepspeed(const JobText& text, Settings& settings) {
    const text::NodePtr root = text::parse_json(plain_json(text.text), text.file.string());
    if (!root->is(text::Node::Kind::Map))
        throw InputError({{{text.file.string(), 0, 0}, "the file has no map of settings", {}}});
    add_keys(*root, true, settings);
    add_empty_maps(*root, settings);
}

}  // namespace debubble::jobs
