#include <cctype>

#include <fmt/format.h>

#include "scenarios/jobs/shell/value.h"

namespace debubble::jobs {
namespace {

constexpr int kDeepestArithmetic = 64;
constexpr long kMostArithmetic = 100'000;  ///< since values of variables are arithmetic themselves

[[noreturn]] void refuse_arithmetic(const text::SourcePosition& place, std::string sentence) {
    throw InputError({{location_of(place), std::move(sentence), line_at(place)}});
}

/// Bash's $((...)), by precedence. A value that is not known makes the whole not known.
class Arithmetic {
public:
    using Value = std::optional<std::int64_t>;

    Arithmetic(const std::string& text, const ShellVariables& variables,
               const text::SourcePosition& place, int depth, long& steps)
        : text_(text), variables_(variables), place_(place), depth_(depth), steps_(steps) {
        check_depth();
    }

    Value all() {
        const Value value = choice();
        skip();
        if (at_ != text_.size())
            refuse_arithmetic(
                place_, fmt::format("the arithmetic '{}' cannot be parsed from '{}' on", text_,
                                    text_.substr(at_, 20)));
        return value;
    }

private:
    void skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
    }
    bool take(std::string_view sign) {
        skip();
        if (std::string_view(text_).substr(at_, sign.size()) != sign) return false;
        const char next = at_ + sign.size() < text_.size() ? text_[at_ + sign.size()] : ' ';
        if ((sign == "<" || sign == ">" || sign == "!") && next == '=') return false;
        if (sign == "*" && next == '*') return false;
        at_ += sign.size();
        return true;
    }
    [[noreturn]] void overflow() const {
        refuse_arithmetic(place_, fmt::format("the arithmetic '{}' exceeds 64 bits", text_));
    }

    Value choice() {
        const Value condition = either();
        if (!take("?")) return condition;
        enter();
        const Value yes = choice();
        if (!take(":")) refuse_arithmetic(place_, fmt::format("'?' without ':' in '{}'", text_));
        const Value no = choice();
        --depth_;
        if (!condition) return {};
        return *condition != 0 ? yes : no;
    }
    Value either() {
        Value left = both();
        while (take("||")) {
            const Value right = both();
            left = left && right ? Value(*left != 0 || *right != 0) : Value();
        }
        return left;
    }
    Value both() {
        Value left = comparison();
        while (take("&&")) {
            const Value right = comparison();
            left = left && right ? Value(*left != 0 && *right != 0) : Value();
        }
        return left;
    }
    Value comparison() {
        Value left = sum();
        for (;;) {
            const std::string_view signs[] = {"==", "!=", "<=", ">=", "<", ">"};
            int which = -1;
            for (int i = 0; i < 6 && which < 0; ++i)
                if (take(signs[i])) which = i;
            if (which < 0) return left;
            const Value right = sum();
            if (!left || !right) {
                left = {};
                continue;
            }
            const bool results[] = {*left == *right, *left != *right, *left <= *right,
                                    *left >= *right, *left<*right, *left> * right};
            left = results[which] ? 1 : 0;
        }
    }
    Value sum() {
        Value left = product();
        for (;;) {
            const bool plus = take("+");
            if (!plus && !take("-")) return left;
            const Value right = product();
            std::int64_t result = 0;
            if (left && right &&
                (plus ? __builtin_add_overflow(*left, *right, &result)
                      : __builtin_sub_overflow(*left, *right, &result)))
                overflow();
            left = left && right ? Value(result) : Value();
        }
    }
    Value product() {
        Value left = power();
        for (;;) {
            const char sign = take("*") ? '*' : take("/") ? '/' : take("%") ? '%' : ' ';
            if (sign == ' ') return left;
            const Value right = power();
            if (!left || !right) {
                left = {};
                continue;
            }
            std::int64_t result = 0;
            if (sign == '*') {
                if (__builtin_mul_overflow(*left, *right, &result)) overflow();
            } else {
                if (*right == 0)
                    refuse_arithmetic(place_,
                                      fmt::format("the arithmetic '{}' divides by 0", text_));
                if (*right == -1 && *left == INT64_MIN) overflow();
                result = sign == '/' ? *left / *right : *left % *right;
            }
            left = result;
        }
    }
    Value power() {
        const Value base = single();
        if (!take("**")) return base;
        enter();
        const Value exponent = power();
        --depth_;
        if (!base || !exponent) return {};
        if (*exponent < 0 || *exponent > 64) overflow();
        std::int64_t result = 1;
        for (std::int64_t i = 0; i < *exponent; ++i)
            if (__builtin_mul_overflow(result, *base, &result)) overflow();
        return result;
    }
    void check_depth() const {
        if (depth_ > kDeepestArithmetic)
            refuse_arithmetic(
                place_,
                fmt::format(
                    "the arithmetic '{}' has circular variables, or brackets more than {} deep",
                    text_, kDeepestArithmetic));
    }
    void enter() {
        ++depth_;
        check_depth();
    }
    Value single() {
        enter();
        if (++steps_ > kMostArithmetic)
            refuse_arithmetic(place_, fmt::format("the arithmetic '{}' needs more than {} steps",
                                                  text_, kMostArithmetic));
        const Value value = deeper();
        --depth_;
        return value;
    }
    Value deeper() {
        if (take("(")) {
            const Value value = choice();
            if (!take(")"))
                refuse_arithmetic(place_, fmt::format("'(' without ')' in '{}'", text_));
            return value;
        }
        if (take("-")) {
            const Value value = single();
            if (value == INT64_MIN) overflow();
            return value ? Value(-*value) : value;
        }
        if (take("+")) return single();
        if (take("!")) {
            const Value value = single();
            return value ? Value(*value == 0 ? 1 : 0) : value;
        }
        skip();
        if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
            return number();
        return variable();
    }
    Value number() {
        std::int64_t value = 0;
        for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
             ++at_)
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, text_[at_] - '0', &value))
                overflow();
        return value;
    }
    Value variable() {
        // "$i" and "${i}" of an index are names too.
        const bool marked = take("$");
        const bool braced = marked && take("{");
        const std::size_t begin = at_;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
            ++at_;
        if (at_ == begin)
            refuse_arithmetic(place_, fmt::format("the arithmetic '{}' has no number at '{}'",
                                                  text_, text_.substr(begin, 20)));
        const auto found = variables_.find(text_.substr(begin, at_ - begin));
        if (braced && !take("}"))
            refuse_arithmetic(place_, fmt::format("the arithmetic '{}' has no }} after '{}'", text_,
                                                  text_.substr(begin, 20)));
        if (found == variables_.end() || found->second.texts.size() != 1) return {};
        const ShellText& value = found->second.texts.front();
        if (!value.known) return {};
        if (value.text.empty()) return 0;
        return Arithmetic(value.text, variables_, place_, depth_ + 1, steps_).all();
    }

    const std::string& text_;
    const ShellVariables& variables_;
    const text::SourcePosition& place_;
    int depth_;
    long& steps_;
    std::size_t at_ = 0;
};

}  // namespace

std::optional<std::int64_t> shell_arithmetic(const std::string& text,
                                             const ShellVariables& variables,
                                             const text::SourcePosition& place) {
    long steps = 0;
    return Arithmetic(text, variables, place, 0, steps).all();
}

}  // namespace debubble::jobs
