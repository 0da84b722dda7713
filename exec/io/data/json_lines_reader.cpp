#include "exec/io/data/training_data.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace debubble::exec {
namespace {

/// The document of a line.
std::string text_of(std::string_view line, const MappedFile& file, int number) {
    const auto refuse = [&](std::size_t column, const std::string& sentence) -> InputError {
        return InputError({{{file.path().string(), number, static_cast<int>(column)},
                            sentence,
                            std::string(line)}});
    };
    try {
        const nlohmann::json document = nlohmann::json::parse(line);
        const auto field = document.is_object() ? document.find("text") : document.end();
        if (!document.is_object() || field == document.end() || !field->is_string())
            throw refuse(1, R"(a line must be {"text": "..."})");
        return field->get<std::string>();
    } catch (const nlohmann::json::parse_error& error) {
        throw refuse(std::clamp<std::size_t>(error.byte, 1, line.size() + 1),
                     R"(the line is not JSON; it must be {"text": "..."})");
    }
}

/// Calls `document` with each line that is not blank, and its number.
template <class Document>
void for_each_document(const MappedFile& file, const Document& document) {
    std::string_view rest = file.bytes();
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) document(line, number);
    }
}

}  // namespace

void encode_json_lines(const MappedFile& file, const Tokenizer& tokenizer, std::int32_t end_of_text,
                       const TokenSink& sink) {
    for_each_document(file, [&](std::string_view line, int number) {
        tokenizer.encode(text_of(line, file, number), sink);
        sink(std::array{end_of_text});
    });
}

std::int64_t count_json_lines(const MappedFile& file) {
    std::int64_t count = 0;
    for_each_document(file, [&](std::string_view, int) { ++count; });
    return count;
}

}  // namespace debubble::exec
