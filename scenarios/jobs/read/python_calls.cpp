#include "scenarios/jobs/read/python_files.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/shell/settings.h"

namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

constexpr int kDeepestBrackets = 40;
constexpr std::size_t kMostCalls = 20'000;

/// Letters of names; bytes beyond ASCII are.
bool names_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           static_cast<unsigned char>(c) >= 128;
}

class PythonReader {
public:
    explicit PythonReader(std::shared_ptr<const text::SourceText> source)
        : source_(std::move(source)) {
        line_starts_.push_back(0);
        for (std::size_t i = 0; i < text().size(); ++i)
            if (text()[i] == '\n') line_starts_.push_back(i + 1);
    }

    std::vector<PythonCall> read() {
        while (at_ < text().size()) {
            skip_expression("");
            if (at_ < text().size()) ++at_;  // a bracket that closes nothing, or a comma
        }
        std::ranges::sort(calls_, {}, [](const PythonCall& call) {
            return std::pair{call.place.line, call.place.column};
        });
        return std::move(calls_);
    }

private:
    const std::string& text() const { return source_->text; }
    char here(std::size_t ahead = 0) const {
        return at_ + ahead < text().size() ? text()[at_ + ahead] : '\0';
    }
    text::SourcePosition place(std::size_t at) const {
        const auto after = std::ranges::upper_bound(line_starts_, at);
        return {source_, static_cast<int>(after - line_starts_.begin()),
                static_cast<int>(at - *std::prev(after)) + 1};
    }
    [[noreturn]] void refuse(std::size_t at, std::string sentence) const {
        const auto where = place(at);
        throw InputError({{location_of(where), std::move(sentence), line_at(where)}});
    }

    void blanks() {
        for (;;) {
            if (std::isspace(static_cast<unsigned char>(here())) != 0 ||
                (here() == '\\' && here(1) == '\n'))
                ++at_;
            else if (here() == '#')
                while (at_ < text().size() && here() != '\n') ++at_;
            else
                return;
            if (at_ >= text().size()) return;
        }
    }

    /// The text of the string that begins here; a prefix was passed.
    std::string string_here() {
        const std::size_t begin = at_;
        const char mark = here();
        const bool triple = here(1) == mark && here(2) == mark;
        at_ += triple ? 3 : 1;
        std::string value;
        for (;;) {
            if (at_ >= text().size() || (!triple && here() == '\n'))
                refuse(begin, "this string is not terminated");
            if (here() == mark && (!triple || (here(1) == mark && here(2) == mark))) break;
            if (here() == '\\' && at_ + 1 < text().size()) ++at_;
            value += text()[at_++];
        }
        at_ += triple ? 3 : 1;
        return value;
    }

    /// Passes an expression up to a comma, a closing bracket or one of `ends` on its own level;
    /// calls in it are read.
    void skip_expression(std::string_view ends) {
        while (at_ < text().size()) {
            blanks();
            const char c = here();
            if (c == '\0' || c == ',' || c == ')' || c == ']' || c == '}' ||
                ends.find(c) != std::string_view::npos)
                return;
            if (c == '"' || c == '\'') {
                (void)string_here();
            } else if (c == '(' || c == '[' || c == '{') {
                bracket();
            } else if (names_letter(c)) {
                name_or_call();
            } else {
                ++at_;
            }
        }
    }

    void bracket() {
        const std::size_t begin = at_;
        if (++depth_ > kDeepestBrackets) refuse(begin, "brackets are nested too deeply");
        const char close = here() == '(' ? ')' : here() == '[' ? ']' : '}';
        ++at_;
        for (;;) {
            skip_expression("");
            if (at_ >= text().size()) refuse(begin, "this bracket is not closed");
            if (here() == close) break;
            if (here() != ',') refuse(at_, "this bracket does not match the opening one");
            ++at_;
        }
        ++at_;
        --depth_;
    }

    void name_or_call() {
        const std::size_t begin = at_;
        std::string name;
        while (names_letter(here())) name += text()[at_++];
        if ((here() == '"' || here() == '\'') && name.size() <= 2) return;  // r"..."
        std::size_t after = at_;
        while (after < text().size() && (text()[after] == ' ' || text()[after] == '\t')) ++after;
        if (after >= text().size() || text()[after] != '(') return;
        const bool definition = defines(begin);
        at_ = after;
        if (definition || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return bracket();
        arguments(std::move(name), begin);
    }

    /// True for the name after `def` or `class`.
    bool defines(std::size_t begin) const {
        std::size_t end = begin;
        while (end > 0 && (text()[end - 1] == ' ' || text()[end - 1] == '\t')) --end;
        const std::string_view before = std::string_view(text()).substr(0, end);
        return before.ends_with("def") || before.ends_with("class");
    }

    void arguments(std::string name, std::size_t begin) {
        if (++depth_ > kDeepestBrackets) refuse(begin, "brackets are nested too deeply");
        if (calls_.size() >= kMostCalls) refuse(begin, "the file has too many calls");
        const std::size_t index = calls_.size();
        calls_.push_back({std::move(name), place(begin), {}});
        ++at_;
        for (;;) {
            blanks();
            if (at_ >= text().size()) refuse(begin, "the bracket of this call is not closed");
            if (here() == ')') break;
            if (here() == ',') {
                ++at_;
                continue;
            }
            if (here() == ']' || here() == '}')
                refuse(at_, "this bracket does not match the opening one");
            PythonArgument argument = argument_here();
            calls_[index].arguments.push_back(std::move(argument));
        }
        ++at_;
        --depth_;
    }

    PythonArgument argument_here() {
        PythonArgument argument;
        argument.place = place(at_);
        const std::size_t begin = at_;
        std::string name;
        while (names_letter(here())) name += text()[at_++];
        blanks();
        if (name.empty() || here() != '=' || here(1) == '=') {
            at_ = begin;
        } else {
            argument.name = std::move(name);
            ++at_;
            blanks();
        }
        const std::size_t start = at_;
        argument.value = literal(0);
        blanks();
        const bool whole = here() == ',' || here() == ')';
        if (!argument.value || !whole) {
            argument.value = nullptr;
            at_ = start;
            skip_expression("");
        }
        argument.written = text().substr(start, std::min<std::size_t>(at_ - start, 60));
        return argument;
    }

    /// A number, a string, True, False, None, or a list or tuple of them; null if it is something
    /// else, after which the place does not count.
    NodePtr literal(int depth) {
        if (depth > kDeepestBrackets) return nullptr;
        const text::SourcePosition where = place(at_);
        if (here() == '"' || here() == '\'') {
            auto node = std::make_shared<Node>();
            node->kind = Node::Kind::Scalar;
            node->quoted = true;
            node->scalar = string_here();
            node->place = where;
            return node;
        }
        if (here() == '[' || here() == '(') return list(depth);
        std::string word;
        if (here() == '-' || here() == '+') word += text()[at_++];
        while (names_letter(here()) || here() == '.' ||
               ((here() == '-' || here() == '+') && (word.ends_with('e') || word.ends_with('E'))))
            word += text()[at_++];
        if (word == "None") {
            auto node = std::make_shared<Node>();
            node->place = where;
            return node;
        }
        if (word == "True" || word == "False")
            return text::make_scalar(word == "True" ? "true" : "false", where);
        if (number_of(word)) return text::make_scalar(word, where);
        if (word.starts_with("torch.")) return text::make_scalar(word.substr(6), where);
        return nullptr;
    }

    NodePtr list(int depth) {
        auto node = std::make_shared<Node>();
        node->kind = Node::Kind::List;
        node->place = place(at_);
        const char close = here() == '[' ? ']' : ')';
        ++at_;
        for (;;) {
            blanks();
            if (here() == close) break;
            NodePtr item = literal(depth + 1);
            blanks();
            if (!item || (here() != ',' && here() != close)) return nullptr;
            node->items.push_back(std::move(item));
            if (here() == ',') ++at_;
        }
        ++at_;
        return node;
    }

    std::shared_ptr<const text::SourceText> source_;
    std::vector<std::size_t> line_starts_;
    std::vector<PythonCall> calls_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

const PythonArgument* PythonCall::find(std::string_view argument) const {
    const auto found = std::ranges::find_if(
        arguments, [&](const PythonArgument& one) { return one.name == argument; });
    return found == arguments.end() ? nullptr : &*found;
}

std::vector<PythonCall> python_calls(const std::shared_ptr<const text::SourceText>& source) {
    return PythonReader(source).read();
}

}  // namespace debubble::jobs
