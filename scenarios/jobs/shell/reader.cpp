#include "scenarios/jobs/shell/reader.h"

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
    if (at_ > end_ || text().substr(at_, word.size()) != word) return false;
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
    const std::vector<Document> documents = std::move(documents_);
    documents_.clear();
    for (const Document& document : documents) {
        const std::size_t begin = at_;
        std::size_t stop = at_;
        for (bool found = false; !found && !ended();) {
            stop = at_;
            const std::size_t end = std::min(text().find('\n', at_), text().size());
            std::string line = slice(at_, end - at_);
            while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.erase(0, 1);
            while (!line.empty() && line.back() == '\r') line.pop_back();
            found = line == document.delimiter;
            at_ = std::min(end + 1, text().size());
            if (!found) stop = at_;
        }
        if (!document.active || document.command >= script_.commands.size()) continue;
        ShellText body;
        body.begin = static_cast<std::uint32_t>(begin);
        if (document.expands)
            body = quoted_region(begin, stop);
        else
            for (std::size_t i = begin; i < stop; ++i)
                body.add(script_.text[i], static_cast<std::uint32_t>(i));
        script_.commands[document.command].input = std::move(body);
        end_command(script_.commands[document.command]);
    }
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
    if (++depth_ > kDeepestNesting) refuse(at_, "commands are nested too deeply");
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
        if (leaves_) active_ = false;
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
            piped_ = true;
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
    if (++steps_ > kMostSteps) refuse(at_, "the script has too many steps");
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
    if (here() == '(' && here(1) == '(') return arithmetic_command();
    if (here() == '(') {
        const std::size_t begin = at_++;
        const Truth state = list({});
        if (here() != ')') refuse(begin, "this ( is not closed");
        ++at_;
        return state;
    }
    if (at_word("[[")) return double_brackets();
    return simple();
}

/// `> FILE`, `2>&1`, `<< EOF`.
void ShellReader::redirection(ShellCommand& command) {
    std::vector<ShellText>& words = command.words;
    const bool numbered = !words.empty() && words.back().text.size() == 1 &&
                          words.back().text[0] >= '0' && words.back().text[0] <= '9' &&
                          words.back().offset() + 1 == at_;
    const bool errors = numbered && words.back().text != "1";
    if (numbered) words.pop_back();
    const bool document = here() == '<' && here(1) == '<' && here(2) != '<';
    const bool text = here() == '<' && here(1) == '<' && here(2) == '<';
    const bool writes = here() == '>';
    bool joins = false;
    while (here() == '<' || here() == '>' || here() == '&' || here() == '-') {
        joins = joins || here() == '&';
        ++at_;
    }
    blanks();
    const std::size_t begin = at_;
    const ShellText target = whole_word();
    if (document)
        documents_.push_back({target.text, slice(begin, at_ - begin) == target.text,
                              script_.commands.size(), active_});
    else if (text)
        command.input = target;
    else if (writes && !errors && !joins)
        command.output = target;
}

Truth ShellReader::simple() {
    ShellCommand command;
    std::vector<ShellText>& words = command.words;
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
            redirection(command);
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
        const Word made = word(Expands::Split);
        words.insert(words.end(), made.fields.begin(), made.fields.end());
        if (at_ == before) ++at_;
    }
    if (words.empty()) return Truth::Yes;
    const std::string name = words.front().text;
    if (name == "[" || name == "test") return test_command(words);
    if (name == "false") return Truth::No;
    if (functions_.contains(name)) {
        call(name, words);
        return Truth::Yes;
    }
    if (!builtin(command)) finish(std::move(command));
    return Truth::Yes;
}

/// Keeps a command; one that is given as a text to another shell is cut into words first.
void ShellReader::finish(ShellCommand made) {
    if (!active_) return;
    ShellCommand command;
    command.input = std::move(made.input);
    command.output = std::move(made.output);
    const bool prints = made.words.front().text == "echo" || made.words.front().text == "printf";
    for (ShellText& word : made.words) {
        const bool nested = !prints && word.text.find("--") != std::string::npos &&
                            word.text.find_first_of(" \t\n") != std::string::npos;
        if (!nested) {
            command.words.push_back(std::move(word));
            continue;
        }
        for (ShellText& part : split_as_shell(word)) command.words.push_back(std::move(part));
    }
    if (command.words.empty()) return;
    script_.commands.push_back(std::move(command));
    end_command(script_.commands.back());
}

/// Keeps the text of a file that `cat << EOF > FILE`, `tee FILE` or `echo TEXT > FILE` writes.
void ShellReader::end_command(const ShellCommand& command) {
    const std::string& name = command.words.front().text;
    if (name == "cat" && command.words.size() == 1 && command.output && command.input)
        script_.files[command.output->text] = *command.input;
    else if (name == "tee" && command.words.size() == 2 && command.input)
        script_.files[command.words[1].text] = *command.input;
    else if (name == "echo" && command.words.size() == 2 && command.output)
        script_.files[command.output->text] = command.words[1];
}

ShellScript follow_script(const std::shared_ptr<const text::SourceText>& source,
                          const Started& started) {
    return ShellReader(source, started).read();
}

}  // namespace debubble::jobs
