#include "scenarios/jobs/shell_reader.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace debubble::jobs {
namespace {

constexpr std::size_t kMostSteps = 200'000;
constexpr int kDeepestNesting = 60;

constexpr std::array<std::string_view, 14> kKeywords{"if",   "then",  "elif",  "else",    "fi",
                                                     "for",  "while", "until", "do",      "done",
                                                     "case", "esac",  "{",     "function"};

Truth inverse(Truth truth) {
    if (truth == Truth::Unknown) return truth;
    return truth == Truth::Yes ? Truth::No : Truth::Yes;
}

}  // namespace

text::SourcePosition ShellScript::place(std::uint32_t offset) const {
    const auto after = std::ranges::upper_bound(line_starts, offset);
    const auto line = after - line_starts.begin();
    return {source, source->first_line + static_cast<int>(line) - 1,
            static_cast<int>(offset - *std::prev(after)) + 1};
}

ShellReader::ShellReader(std::shared_ptr<const text::SourceText> source) {
    script_.source = std::move(source);
    script_.line_starts.push_back(0);
    for (std::size_t i = 0; i < text().size(); ++i)
        if (text()[i] == '\n') script_.line_starts.push_back(static_cast<std::uint32_t>(i) + 1);
}

void ShellReader::refuse(std::size_t at, std::string sentence) const {
    const auto place = script_.place(static_cast<std::uint32_t>(at));
    throw InputError({{location_of(place), std::move(sentence), line_at(place)}});
}

ShellScript ShellReader::read() {
    while (!ended()) {
        list({});
        if (!ended()) ++at_;  // a bracket or keyword that closes nothing
    }
    return std::move(script_);
}

bool ShellReader::at_word(std::string_view word) const {
    if (std::string_view(text()).substr(at_, word.size()) != word) return false;
    constexpr std::string_view kEnds = " \t\r\n;&|()";
    const char next = here(word.size());
    return next == '\0' || kEnds.find(next) != std::string_view::npos;
}

bool ShellReader::at_separator() const {
    constexpr std::string_view kSeparators = "\n;&|)";
    return ended() || kSeparators.find(here()) != std::string_view::npos;
}

void ShellReader::blanks() {
    for (;;) {
        if (here() == ' ' || here() == '\t' || here() == '\r')
            ++at_;
        else if (here() == '\\' && here(1) == '\n')
            at_ += 2;
        else if (here() == '\\' && here(1) == '\r' && here(2) == '\n')
            at_ += 3;
        else
            return;
        if (ended()) return;
    }
}

void ShellReader::comment() {
    while (!ended() && here() != '\n') ++at_;
}

void ShellReader::here_documents() {
    for (const std::string& delimiter : documents_) {
        for (bool found = false; !found && !ended();) {
            const std::size_t end = std::min(text().find('\n', at_), text().size());
            std::string line = text().substr(at_, end - at_);
            while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.erase(0, 1);
            while (!line.empty() && line.back() == '\r') line.pop_back();
            found = line == delimiter;
            at_ = std::min(end + 1, text().size());
        }
    }
    documents_.clear();
}

void ShellReader::line_end() {
    ++at_;
    if (!documents_.empty()) here_documents();
}

void ShellReader::blank_lines() {
    for (;;) {
        blanks();
        if (here() == '\n')
            line_end();
        else if (here() == '#')
            comment();
        else
            return;
        if (ended()) return;
    }
}

Truth ShellReader::list(const std::vector<std::string_view>& ends) {
    if (++depth_ > kDeepestNesting) refuse(at_, "commands lie too deep inside each other");
    Truth last = Truth::Yes;
    for (;;) {
        blank_lines();
        if (ended()) break;
        if (std::ranges::any_of(ends, [this](std::string_view end) { return at_word(end); })) break;
        if (here() == ';' || here() == '&') {
            ++at_;
            continue;
        }
        if (here() == ')') break;
        const std::size_t before = at_;
        last = pipeline();
        if (at_ == before) break;
    }
    --depth_;
    return last;
}

/// Commands joined by && and ||, of which later ones have effects as the earlier ones ended.
Truth ShellReader::pipeline() {
    const bool outer = active_;
    Truth state = command();
    for (;;) {
        blanks();
        if (here() == '#') comment();
        const bool both = here() == '&' && here(1) == '&';
        const bool either = here() == '|' && here(1) == '|';
        if (!both && !either) {
            if (here() != '|') break;
            at_ += here(1) == '&' ? 2 : 1;
            blank_lines();
            state = command();
            continue;
        }
        at_ += 2;
        blank_lines();
        const Truth wanted = both ? Truth::Yes : Truth::No;
        const bool runs = state == wanted;
        active_ = outer && runs;
        const Truth next = command();
        if (runs) state = next;
        active_ = outer;
    }
    active_ = outer;
    return state;
}

Truth ShellReader::command() {
    if (++steps_ > kMostSteps) refuse(at_, "the script has too many steps to follow");
    blanks();
    if (ended()) return Truth::Yes;
    bool inverted = false;
    for (; at_word("!"); blanks()) {
        ++at_;
        inverted = !inverted;
    }
    const Truth truth = single();
    return inverted ? inverse(truth) : truth;
}

Truth ShellReader::single() {
    for (const std::string_view keyword : kKeywords)
        if (at_word(keyword)) return compound(keyword);
    if (here() == '(' && here(1) == '(') {
        const std::size_t begin = at_;
        const ShellText value = arithmetic(static_cast<std::uint32_t>(begin));
        if (!value.known) return Truth::Unknown;
        return value.text == "0" ? Truth::No : Truth::Yes;
    }
    if (here() == '(') {
        const std::size_t begin = at_++;
        const Truth state = list({});
        if (here() != ')') refuse(begin, "this ( has no end");
        ++at_;
        return state;
    }
    if (at_word("[[")) return double_brackets();
    return simple();
}

/// NAME=value, NAME+=value, NAME=(...), NAME[i]=value.
bool ShellReader::assignment(bool in_command) {
    const std::size_t begin = at_;
    const std::string name = name_here();
    const bool named = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
    if (named && here() == '[') {
        const std::size_t close = text().find(']', at_);
        if (close != std::string::npos && (text()[close + 1] == '=')) {
            at_ = close + 2;
            (void)whole_word();
            return true;
        }
    }
    const bool adds = here() == '+' && here(1) == '=';
    if (!named || (here() != '=' && !adds)) {
        at_ = begin;
        return false;
    }
    at_ += adds ? 2 : 1;
    ShellVariable value;
    if (here() == '(' && !in_command)
        value = array();
    else
        value.texts.push_back(whole_word());
    if (!active_) return true;
    ShellVariable& variable = script_.variables[name];
    if (!adds) {
        variable = std::move(value);
    } else if (value.is_array || variable.is_array) {
        variable.is_array = true;
        std::ranges::move(value.texts, std::back_inserter(variable.texts));
    } else if (variable.texts.empty()) {
        variable = std::move(value);
    } else {
        variable.texts.front().add(value.texts.front());
        count(variable.texts.front().text.size());
    }
    return true;
}

/// After `export`, `declare` and their like: assignments and names.
void ShellReader::declare() {
    for (blanks(); !at_separator() && here() != '#'; blanks()) {
        const std::size_t before = at_;
        if (!assignment(false)) (void)whole_word();
        if (at_ == before) ++at_;
    }
}

Truth ShellReader::simple() {
    std::vector<ShellText> words;
    for (;;) {
        blanks();
        if (at_separator() || here() == '#') break;
        if (words.empty() && assignment(false)) continue;
        if (words.empty())
            for (const std::string_view verb :
                 {"export", "declare", "local", "readonly", "typeset"})
                if (at_word(verb)) {
                    at_ += verb.size();
                    declare();
                    return Truth::Yes;
                }
        const std::size_t before = at_;
        if (here() == '<' || here() == '>') {
            if (!words.empty() && words.back().text.size() == 1 && words.back().text[0] >= '0' &&
                words.back().text[0] <= '9' && words.back().offset() + 1 == at_)
                words.pop_back();
            const bool document = here() == '<' && here(1) == '<' && here(2) != '<';
            while (here() == '<' || here() == '>' || here() == '&' || here() == '-') ++at_;
            blanks();
            const ShellText target = whole_word();
            if (document) documents_.push_back(target.text);
            continue;
        }
        if (here() == '(') {
            ++at_;
            blanks();
            if (words.size() == 1 && here() == ')') {
                ++at_;
                if (function(words.front().text)) return Truth::Yes;
            }
            continue;
        }
        const Word made = word(true);
        words.insert(words.end(), made.fields.begin(), made.fields.end());
        if (at_ == before) ++at_;
    }
    if (words.empty()) return Truth::Yes;
    const std::string& name = words.front().text;
    if (name == "[" || name == "test") return test_command(words);
    if (name == "false") return Truth::No;
    if (functions_.contains(name)) {
        call(name);
        return Truth::Yes;
    }
    finish(std::move(words));
    return Truth::Yes;
}

/// Keeps a command; one that is given as a text to another shell is cut into words first.
void ShellReader::finish(std::vector<ShellText> words) {
    if (!active_) return;
    ShellCommand command;
    for (ShellText& word : words) {
        const bool nested = word.text.find("--") != std::string::npos &&
                            word.text.find_first_of(" \t\n") != std::string::npos;
        if (!nested) {
            command.words.push_back(std::move(word));
            continue;
        }
        for (ShellText& part : split_as_shell(word)) command.words.push_back(std::move(part));
    }
    script_.commands.push_back(std::move(command));
}

ShellScript follow_script(const std::shared_ptr<const text::SourceText>& source) {
    return ShellReader(source).read();
}

}  // namespace debubble::jobs
