#include <fnmatch.h>

#include <algorithm>
#include <cctype>

#include "scenarios/jobs/shell/reader.h"

/// Conditions of a script. Files and the environment are not looked at: what depends on them is
/// unknown, but a variable that the script never sets counts as empty.
namespace debubble::jobs {
namespace {

constexpr int kDeepestCondition = 40;

Truth truth_of(bool value) {
    return value ? Truth::Yes : Truth::No;
}
Truth conjunction(Truth a, Truth b) {
    if (a == Truth::No || b == Truth::No) return Truth::No;
    return a == Truth::Yes && b == Truth::Yes ? Truth::Yes : Truth::Unknown;
}
Truth disjunction(Truth a, Truth b) {
    if (a == Truth::Yes || b == Truth::Yes) return Truth::Yes;
    return a == Truth::No && b == Truth::No ? Truth::No : Truth::Unknown;
}

class Condition {
public:
    Condition(const std::vector<ShellText>& words, const ShellVariables& variables,
              const text::SourcePosition& place, std::set<std::string>& unset)
        : words_(words), variables_(variables), place_(place), unset_(unset) {}

    Truth either() {
        Truth left = both();
        while (take("||") || take("-o")) left = disjunction(left, both());
        return left;
    }

private:
    bool at(std::string_view word) const { return at_ < words_.size() && words_[at_].text == word; }
    bool take(std::string_view word) {
        if (!at(word)) return false;
        ++at_;
        return true;
    }
    Truth both() {
        Truth left = single();
        while (take("&&") || take("-a")) left = conjunction(left, single());
        return left;
    }
    Truth single() {
        if (++depth_ > kDeepestCondition || at_ >= words_.size()) return Truth::Unknown;
        if (take("!")) {
            const Truth inner = single();
            if (inner == Truth::Unknown) return inner;
            return truth_of(inner == Truth::No);
        }
        if (take("(")) {
            const Truth inner = either();
            take(")");
            return inner;
        }
        if (at_ + 2 < words_.size() && !at("-z") && !at("-n") &&
            is_comparison(words_[at_ + 1].text))
            return comparison();
        if (words_[at_].text.size() == 2 && words_[at_].text[0] == '-' && at_ + 1 < words_.size())
            return about_one();
        const ShellText& word = words_[at_++];
        const std::optional<std::string> value = value_of(word);
        return value ? truth_of(!value->empty()) : Truth::Unknown;
    }
    static bool is_comparison(std::string_view word) {
        constexpr std::string_view kWords[] = {"=",   "==",  "!=",  "<",   ">",   "=~",
                                               "-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
        return std::ranges::find(kWords, word) != std::ranges::end(kWords);
    }
    /// The text of a word; empty for a variable that is never set; nothing if it is not known.
    std::optional<std::string> value_of(const ShellText& word) const {
        if (word.known) return word.text;
        if (!is_unset_variable(word)) return {};
        unset_.insert(word.text.substr(1));
        return std::string();
    }
    Truth about_one() {
        const char what = words_[at_].text[1];
        const ShellText& word = words_[at_ + 1];
        at_ += 2;
        if (what != 'z' && what != 'n') return Truth::Unknown;
        const std::optional<std::string> value = value_of(word);
        if (!value) return Truth::Unknown;
        return truth_of(value->empty() == (what == 'z'));
    }
    Truth comparison() {
        const std::optional<std::string> left = value_of(words_[at_]);
        const std::string& sign = words_[at_ + 1].text;
        const std::optional<std::string> right = value_of(words_[at_ + 2]);
        at_ += 3;
        if (!left || !right || sign == "=~" || sign == "<" || sign == ">") return Truth::Unknown;
        if (sign == "=" || sign == "==" || sign == "!=") {
            const bool same = *left == *right || ::fnmatch(right->c_str(), left->c_str(), 0) == 0;
            return truth_of(same == (sign != "!="));
        }
        if (left->empty() || right->empty()) return Truth::Unknown;
        const auto a = shell_arithmetic(*left, variables_, place_);
        const auto b = shell_arithmetic(*right, variables_, place_);
        if (!a || !b) return Truth::Unknown;
        if (sign == "-eq") return truth_of(*a == *b);
        if (sign == "-ne") return truth_of(*a != *b);
        if (sign == "-lt") return truth_of(*a < *b);
        if (sign == "-le") return truth_of(*a <= *b);
        return truth_of(sign == "-gt" ? *a > *b : *a >= *b);
    }

    const std::vector<ShellText>& words_;
    const ShellVariables& variables_;
    const text::SourcePosition& place_;
    std::set<std::string>& unset_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

Truth ShellReader::evaluate(const std::vector<ShellText>& words) {
    if (!active_ || words.empty()) return Truth::Unknown;
    const auto place = script_.place(words.front().offset());
    const Truth truth = Condition(words, script_.variables, place, script_.unset).either();
    if (truth == Truth::Unknown)
        for (const ShellText& word : words)
            if (!word.known && !is_unset_variable(word)) script_.deciding.push_back(word);
    return truth;
}

Truth ShellReader::test_command(const std::vector<ShellText>& words) {
    std::vector<ShellText> inner(words.begin() + 1, words.end());
    if (!inner.empty() && inner.back().text == "]") inner.pop_back();
    return evaluate(inner);
}

Truth ShellReader::double_brackets() {
    const std::size_t begin = at_;
    at_ += 2;
    std::vector<ShellText> words;
    for (;;) {
        blank_lines();
        if (ended()) refuse(begin, "this [[ is not closed");
        if (at_word("]]")) break;
        const auto offset = static_cast<std::uint32_t>(at_);
        ShellText sign;
        sign.begin = offset;
        if (here() == here(1) && (here() == '&' || here() == '|')) {
            sign.add(text()[at_++], offset);
            sign.add(text()[at_++], offset);
        } else if (std::string_view("()<>;&|").find(here()) != std::string_view::npos) {
            sign.add(text()[at_++], offset);
        } else {
            const std::size_t before = at_;
            sign = whole_word();
            if (at_ == before) ++at_;
        }
        words.push_back(std::move(sign));
    }
    at_ += 2;
    return evaluate(words);
}

}  // namespace debubble::jobs
