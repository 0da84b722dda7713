#include <algorithm>

#include "scenarios/jobs/shell/reader.h"

/// The files that make up a script, and the values with which it is started.
namespace debubble::jobs {

text::SourcePosition ShellScript::place(std::uint32_t offset) const {
    offset &= ~ShellText::kOpen;
    auto piece = std::ranges::upper_bound(pieces, offset, {}, &ShellPiece::begin);
    if (piece != pieces.begin()) --piece;
    const std::uint32_t inside = offset - piece->begin;
    const auto after = std::ranges::upper_bound(piece->line_starts, inside);
    const auto line = after - piece->line_starts.begin();
    return {piece->source, piece->source->first_line + static_cast<int>(line) - 1,
            static_cast<int>(inside - *std::prev(after)) + 1};
}

std::size_t ShellReader::add_piece(std::shared_ptr<const text::SourceText> source) {
    ShellPiece piece;
    piece.begin = static_cast<std::uint32_t>(script_.text.size());
    script_.text += source->text;
    piece.end = static_cast<std::uint32_t>(script_.text.size());
    script_.text += '\n';
    piece.line_starts.push_back(0);
    for (std::size_t i = 0; i < source->text.size(); ++i)
        if (source->text[i] == '\n') piece.line_starts.push_back(static_cast<std::uint32_t>(i) + 1);
    piece.source = std::move(source);
    script_.pieces.push_back(std::move(piece));
    return script_.pieces.size() - 1;
}

const ShellPiece& ShellReader::piece_at(std::size_t offset) const {
    auto piece = std::ranges::upper_bound(script_.pieces, static_cast<std::uint32_t>(offset), {},
                                          &ShellPiece::begin);
    return piece == script_.pieces.begin() ? *piece : *std::prev(piece);
}

ShellReader::ShellReader(std::shared_ptr<const text::SourceText> source, const Started& started) {
    script_.source = source;
    add_piece(std::move(source));
    end_ = script_.pieces.front().end;
    const auto given = [&](const std::string& line, std::size_t from) {
        const std::size_t piece = add_piece(
            std::make_shared<text::SourceText>(text::SourceText{"the command line", line, 1}));
        ShellText text;
        const std::uint32_t begin = script_.pieces[piece].begin + static_cast<std::uint32_t>(from);
        text.begin = begin;
        for (std::size_t i = from; i < line.size(); ++i)
            text.add(line[i], begin + static_cast<std::uint32_t>(i - from));
        return text;
    };
    for (const auto& [name, value] : started.environment) {
        const std::string words = "--env " + name + "=";
        environment_[name] = given(words + value, words.size());
    }
    for (const std::string& argument : started.arguments) arguments_.push_back(given(argument, 0));
    has_arguments_ = !started.arguments.empty();
}

bool is_unset_variable(const ShellText& text) {
    return !text.known && text.text.size() > 1 && text.text[0] == '$' &&
           std::isdigit(static_cast<unsigned char>(text.text[1])) == 0 &&
           std::all_of(text.text.begin() + 1, text.text.end(), is_name_part);
}

std::map<std::string, std::string> parse_environment(const std::vector<std::string>& words) {
    std::map<std::string, std::string> environment;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const bool named = !name.empty() &&
                           std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                           std::ranges::all_of(name, is_name_part);
        if (equals == std::string::npos || !named)
            throw InputError(
                {{{},
                  "--env " + word + ": give a variable and its value, as in --env NNODES=4",
                  {}}});
        environment[name] = word.substr(equals + 1);
    }
    return environment;
}

namespace {

constexpr int kLongestChainOfVariables = 20;

void add_lacking(std::string_view text, const ShellScript& script, std::set<std::string>& found,
                 int depth) {
    const auto follow = [&](const std::string& name, bool printed) {
        const auto variable = script.variables.find(name);
        const bool leads = !printed && variable != script.variables.end() &&
                           variable->second.texts.size() == 1 &&
                           !variable->second.texts.front().known;
        if (leads && depth < kLongestChainOfVariables)
            add_lacking(variable->second.texts.front().text, script, found, depth + 1);
        else if (printed || variable == script.variables.end())
            found.insert(name);
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$' && text[i] != '`') continue;
        if (text[i] == '`' || (text.substr(i, 2) == "$(" && text.substr(i, 3) != "$((")) {
            found.insert(std::string(text.substr(i, 60)));
            return;
        }
        if (text.substr(i, 3) == "$((") {
            std::string name;
            const std::size_t end = std::min(text.find("))", i), text.size());
            for (std::size_t j = i + 3; j <= end; ++j) {
                const char c = j < end ? text[j] : ' ';
                if (is_name_part(c)) {
                    name += c;
                } else {
                    if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0)
                        follow(name, false);
                    name.clear();
                }
            }
            for (std::size_t j = i + 3; j < end; ++j)
                if (text[j] == '$') add_lacking(text.substr(j, end - j), script, found, depth + 1);
            i = end;
            continue;
        }
        const bool braced = i + 1 < text.size() && text[i + 1] == '{';
        std::string name;
        for (std::size_t j = i + (braced ? 2 : 1); j < text.size() && is_name_part(text[j]); ++j)
            name += text[j];
        if (name.empty()) continue;
        if (std::isdigit(static_cast<unsigned char>(name[0])) != 0)
            found.insert("$" + name);
        else
            follow(name, braced);
    }
}

}  // namespace

std::set<std::string> lacking(const ShellText& text, const ShellScript& script) {
    std::set<std::string> found;
    std::string open;
    for (std::size_t i = 0; i < text.text.size(); ++i)
        if (!text.knows(i))
            open += text.text[i];
        else if (!open.empty() && open.back() != ' ')
            open += ' ';
    add_lacking(open, script, found, 0);
    return found;
}

}  // namespace debubble::jobs
