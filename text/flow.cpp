#include "text/document.h"

#include <fmt/format.h>

namespace debubble::text {

bool is_plain_word(const std::string& text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";
    return !text.empty() && text.size() < 256 && text != "null" && text[0] != '-' &&
           text.find_first_not_of(kPlain) == std::string::npos;
}

std::string to_flow(const Node& node) {
    std::string out;
    switch (node.kind) {
        case Node::Kind::Null: return "~";
        case Node::Kind::Scalar:
            if (!node.quoted && is_plain_word(node.scalar)) return node.scalar;
            for (const char c : node.scalar) {
                if (c == '"' || c == '\\') out += '\\';
                if (c == '\n')
                    out += "\\n";
                else
                    out += c;
            }
            return '"' + out + '"';
        case Node::Kind::List:
            for (const NodePtr& item : node.items)
                out += (out.empty() ? "" : ", ") + to_flow(*item);
            return '[' + out + ']';
        case Node::Kind::Map:
            for (const Node::Entry& entry : node.entries) {
                const bool plain = is_plain_word(entry.key);
                out +=
                    fmt::format("{}{}: {}", out.empty() ? "" : ", ",
                                plain ? entry.key : '"' + entry.key + '"', to_flow(*entry.value));
            }
            return '{' + out + '}';
    }
    return out;
}

}  // namespace debubble::text
