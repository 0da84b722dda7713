#include <algorithm>

#include <fnmatch.h>

#include <utility>

#include <fmt/format.h>

#include "scenarios/jobs/shell/reader.h"

/// The commands that hold others: conditions, loops, choices and functions.
namespace debubble::jobs {
namespace {

constexpr std::size_t kMostTurns = 1000;  ///< of a loop

}  // namespace

Truth ShellReader::compound(std::string_view keyword) {
    const std::size_t begin = at_;
    at_ += keyword.size();
    if (keyword == "if") return conditional();
    if (keyword == "for" || keyword == "while" || keyword == "until") {
        loop(keyword == "for"     ? LoopKind::Words
             : keyword == "while" ? LoopKind::While
                                  : LoopKind::Until);
        return Truth::Yes;
    }
    if (keyword == "case") {
        choice();
        return Truth::Yes;
    }
    if (keyword == "{") {
        const Truth state = list({"}"});
        if (!at_word("}")) refuse(begin, "this { is not closed");
        ++at_;
        return state;
    }
    if (keyword == "function") {
        blanks();
        const std::string name = name_here();
        blanks();
        if (here() == '(') {
            ++at_;
            blanks();
            if (here() == ')') ++at_;
        }
        if (!name.empty() && function(name)) return Truth::Yes;
    }
    refuse(begin, fmt::format("'{}' is not a command", keyword));
}

/// After `if`: conditions and branches up to `fi`. Where a condition is not known, none of its
/// commands count, and a remark says so.
Truth ShellReader::conditional() {
    const std::size_t begin = at_;
    const bool outer = active_;
    bool done = false;  // a branch was taken
    for (;;) {
        active_ = outer && !done;
        const std::size_t condition = at_;
        const Truth truth = list({"then"});
        if (!at_word("then")) refuse(begin, "this 'if' has no 'then'");
        at_ += 4;
        if (active_ && truth == Truth::Unknown)
            script_.remarks.emplace_back(
                static_cast<std::uint32_t>(condition),
                "this condition is known only when the script runs; it is assumed to be false");
        active_ = outer && !done && truth == Truth::Yes;
        done = done || truth == Truth::Yes;
        list({"elif", "else", "fi"});
        if (at_word("elif")) {
            at_ += 4;
            continue;
        }
        if (at_word("else")) {
            at_ += 4;
            active_ = outer && !done;
            list({"fi"});
        }
        if (!at_word("fi")) refuse(begin, "this 'if' has no 'fi'");
        at_ += 2;
        active_ = outer;
        return Truth::Yes;
    }
}

/// After `for`, `while` or `until`. A loop over words is followed, and one whose condition is known
/// at every turn; others are not.
void ShellReader::loop(LoopKind kind) {
    const std::size_t begin = at_;
    const bool outer = active_;
    if (kind != LoopKind::Words) return conditional_loop(kind == LoopKind::Until, begin);
    std::vector<ShellText> turns;
    blanks();
    if (here() == '(') return arithmetic_loop(begin);
    const std::string name = name_here();
    blanks();
    if (at_word("in")) {
        at_ += 2;
        for (blanks(); !at_separator() && here() != '#'; blanks()) {
            const std::size_t before = at_;
            for (ShellText& field : word(Expands::Split).fields) turns.push_back(std::move(field));
            if (at_ == before) ++at_;
        }
    }
    while (here() == ';') ++at_;
    blank_lines();
    if (!at_word("do")) refuse(begin, "this loop has no 'do'");
    at_ += 2;
    const std::size_t body = at_;
    const bool follows = outer && !turns.empty() && turns.size() <= kMostTurns;
    if (outer && !follows) leave_out(begin);
    for (std::size_t i = 0; i < std::max<std::size_t>(follows ? turns.size() : 1, 1); ++i) {
        at_ = body;
        active_ = follows && !breaks_;
        if (active_) script_.variables[name] = {{turns[i]}, false};
        list({"done"});
        if (!at_word("done")) refuse(begin, "this loop has no 'done'");
        leaves_ = false;
    }
    breaks_ = false;
    at_ += 4;
    active_ = outer;
}

/// After `for`, at `((FIRST; CONDITION; STEP))`.
void ShellReader::arithmetic_loop(std::size_t begin) {
    const bool outer = active_;
    at_ += 2;
    std::size_t from = at_;
    const std::size_t end = closing('(', ')', "((");
    if (end >= text().size() || text()[end] != ')') refuse(begin, "this (( is not closed");
    struct Part {
        std::size_t first, end;
    };
    std::vector<Part> parts;
    for (std::size_t i = from; i < end; ++i)
        if (text()[i] == ';' || i + 1 == end) {  // the first of the two brackets at its end
            parts.push_back({from, i});
            from = i + 1;
        }
    if (parts.size() != 3) refuse(begin, "this loop must have three parts between (( and ))");
    const auto carry_out = [&](const Part& part) {
        const bool empty =
            slice(part.first, part.end - part.first).find_first_not_of(" \t") == std::string::npos;
        return empty ? Truth::Yes : arithmetic_part(part.first, part.end, part.first);
    };
    at_ = end + 1;
    blank_lines();
    while (here() == ';') ++at_;
    blank_lines();
    if (!at_word("do")) refuse(begin, "this loop has no 'do'");
    at_ += 2;
    const std::size_t body = at_;
    const ShellVariables before = outer ? script_.variables : ShellVariables();
    if (outer) carry_out(parts[0]);
    for (std::size_t turn = 0;; ++turn) {
        const Truth truth = outer ? carry_out(parts[1]) : Truth::No;
        if (truth == Truth::Unknown || turn >= kMostTurns) {
            script_.variables = before;
            leave_out(begin);
        }
        active_ = outer && truth == Truth::Yes && turn < kMostTurns;
        const bool runs = active_;
        at_ = body;
        list({"done"});
        if (!at_word("done")) refuse(begin, "this loop has no 'done'");
        at_ += 4;
        leaves_ = false;
        if (!runs || breaks_) break;
        active_ = true;
        carry_out(parts[2]);
    }
    breaks_ = false;
    active_ = outer;
}

void ShellReader::leave_out(std::size_t begin) {
    script_.remarks.emplace_back(static_cast<std::uint32_t>(begin),
                                 "this loop is known only when the script runs; it is ignored");
}

/// After `while` or `until`.
void ShellReader::conditional_loop(bool until, std::size_t begin) {
    const bool outer = active_;
    const std::size_t condition = at_;
    const ShellVariables before = outer ? script_.variables : ShellVariables();
    for (std::size_t turn = 0;; ++turn) {
        at_ = condition;
        active_ = outer;
        const Truth truth = list({"do"});
        if (!at_word("do")) refuse(begin, "this loop has no 'do'");
        at_ += 2;
        const bool known = truth != Truth::Unknown && turn < kMostTurns;
        if (outer && !known) {
            script_.variables = before;
            leave_out(begin);
        }
        active_ = outer && known && (truth == Truth::Yes) != until;
        const bool runs = active_;
        list({"done"});
        if (!at_word("done")) refuse(begin, "this loop has no 'done'");
        at_ += 4;
        leaves_ = false;
        if (!runs || breaks_) break;
    }
    breaks_ = false;
    active_ = outer;
}

/// After `case`: the first branch with a pattern that fits.
void ShellReader::choice() {
    const std::size_t begin = at_;
    const bool outer = active_;
    blanks();
    ShellText value = whole_word();
    if (!value.known && active_ && is_unset_variable(value)) {
        script_.unset.insert(value.text.substr(1));
        value = {};
    }
    blank_lines();
    if (!at_word("in")) refuse(begin, "this 'case' has no 'in'");
    at_ += 2;
    bool done = false;
    for (;;) {
        blank_lines();
        if (at_word("esac")) break;
        if (ended()) refuse(begin, "this 'case' has no 'esac'");
        if (here() == '(') ++at_;
        bool fits = false;
        for (;;) {
            blanks();
            const std::size_t before = at_;
            const ShellText pattern = whole_word();
            fits = fits ||
                   (value.known && ::fnmatch(pattern.text.c_str(), value.text.c_str(), 0) == 0);
            blanks();
            if (here() == '|') {
                ++at_;
                continue;
            }
            if (here() == ')') break;
            if (at_ == before || ended()) refuse(begin, "this 'case' has a pattern without ')'");
        }
        ++at_;
        active_ = outer && fits && !done;
        done = done || fits;
        list({"esac", ";;"});
        if (at_word(";;"))
            at_ += 2;
        else if (!at_word("esac"))
            refuse(at_ < text().size() ? at_ : begin, "a branch of this 'case' has no ';;'");
        active_ = outer;
    }
    if (outer && !value.known) script_.deciding.push_back(value);
    if (outer && !value.known)
        script_.remarks.emplace_back(
            static_cast<std::uint32_t>(begin),
            "the matching case is known only when the script runs; none is taken");
    at_ += 4;
}

/// After a function's name and brackets: its body is kept for calls.
bool ShellReader::function(const std::string& name) {
    blank_lines();
    if (here() != '{') return false;
    const bool outer = active_;
    const std::size_t body = at_;
    active_ = false;
    compound("{");
    active_ = outer;
    functions_[name] = {body, end_};
    return true;
}

void ShellReader::call(const std::string& name, const std::vector<ShellText>& words) {
    const auto found = functions_.find(name);
    if (!active_ || found == functions_.end() || calling_.contains(name)) return;
    calling_.insert(name);
    const std::size_t after = at_;
    const std::size_t end = end_;
    std::vector<ShellText> arguments(words.begin() + 1, words.end());
    std::swap(arguments, arguments_);
    const bool had = std::exchange(has_arguments_, true);
    at_ = found->second.begin;
    end_ = found->second.end;
    compound("{");
    at_ = after;
    end_ = end;
    leaves_ = false;
    breaks_ = false;
    active_ = true;
    std::swap(arguments, arguments_);
    has_arguments_ = had;
    calling_.erase(name);
}

}  // namespace debubble::jobs
