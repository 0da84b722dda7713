#include "scenarios/jobs/read/formats.h"

#include <fmt/format.h>
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "base/diagnostic.h"
#include "text/document_readers.h"

namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;
using text::SourcePosition;

class Converter {
public:
    explicit Converter(std::shared_ptr<const text::SourceText> source)
        : source_(std::move(source)) {}

    SourcePosition place(const toml::source_region& region) const {
        const auto line = static_cast<int>(region.begin.line);
        const auto column = static_cast<int>(region.begin.column);
        return {source_, std::max(line, 1), std::max(column, 1)};
    }

    NodePtr convert(const toml::node& value, std::size_t depth) {
        const SourcePosition where = place(value.source());
        if (depth > text::kDeepestDocument) refuse(where, text::too_deep());
        if (++values_ > text::kMostValues) refuse(where, text::too_many_values());
        auto node = std::make_shared<Node>();
        node->place = where;
        if (const toml::table* const table = value.as_table()) {
            node->kind = Node::Kind::Map;
            for (const auto& [key, inner] : *table)
                node->entries.push_back(
                    {std::string(key.str()), place(key.source()), convert(inner, depth + 1)});
        } else if (const toml::array* const array = value.as_array()) {
            node->kind = Node::Kind::List;
            for (const toml::node& inner : *array) node->items.push_back(convert(inner, depth + 1));
        } else {
            node->kind = Node::Kind::Scalar;
            node->quoted = value.is_string();
            node->scalar = scalar(value);
        }
        return node;
    }

    [[noreturn]] static void refuse(const SourcePosition& where, std::string sentence) {
        throw InputError({{location_of(where), std::move(sentence), line_at(where)}});
    }

private:
    static std::string scalar(const toml::node& value) {
        if (const auto* text = value.as_string()) return text->get();
        if (const auto* number = value.as_integer()) return std::to_string(number->get());
        if (const auto* real = value.as_floating_point()) return fmt::format("{}", real->get());
        if (const auto* truth = value.as_boolean()) return truth->get() ? "true" : "false";
        return "a time";
    }

    std::shared_ptr<const text::SourceText> source_;
    std::size_t values_ = 0;
};

}  // namespace

NodePtr parse_toml(std::string text, const std::string& file) {
    const auto source = text::checked_source(std::move(text), file);
    Converter converter(source);
    try {
        const toml::table table = toml::parse(std::string_view(source->text), file);
        return converter.convert(table, 0);
    } catch (const toml::parse_error& error) {
        Converter::refuse(converter.place(error.source()),
                          fmt::format("TOML: {}", error.description()));
    }
}

}  // namespace debubble::jobs
