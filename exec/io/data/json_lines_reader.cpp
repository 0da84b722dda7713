#include "exec/io/data/json_lines_reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "exec/io/bad_file.h"

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

}  // namespace

void encode_json_lines(const MappedFile& file, const Tokenizer& tokenizer, const TokenSink& sink) {
    const auto end_of_text = tokenizer.end_of_text();
    if (!end_of_text)
        throw bad_file(file.path(), fmt::format("{} has no {} to stand between the documents",
                                                tokenizer.name(), kEndOfText));
    std::string_view rest = file.bytes();
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        tokenizer.encode(text_of(line, file, number), sink);
        sink(std::array{*end_of_text});
    }
}

}  // namespace debubble::exec
