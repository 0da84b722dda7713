#include "scenarios/read/sweep.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "text/quantity.h"

namespace debubble::scenarios {

struct Expression::Node {
    std::string op;  ///< an operator, or "number", "text", "key"
    double number = 0;
    std::string text;
    std::shared_ptr<const Node> left;
    std::shared_ptr<const Node> right;  ///< null for a prefix operator
};

namespace {

using Term = Expression::Node;
using Tree = std::shared_ptr<const Term>;

constexpr std::size_t kLongest = 2000;
constexpr int kDeepest = 100;

/// A parser by recursive descent: one function per strength of binding, weakest first.
class Parser {
public:
    Parser(std::string_view text, std::vector<std::string>& keys) : text_(text), keys_(&keys) {}

    Tree parse() {
        Tree tree = binary(0);
        skip();
        if (at_ < text_.size())
            fail(fmt::format("'{}' is not expected here", text_.substr(at_, 20)));
        return tree;
    }

private:
    static constexpr std::array<std::array<std::string_view, 6>, 5> kLevels{{
        {"or"},
        {"and"},
        {"==", "!=", "<=", ">=", "<", ">"},
        {"+", "-"},
        {"*", "/", "%"},
    }};

    [[noreturn]] void fail(const std::string& what) const {
        throw InputError(fmt::format("column {} of the condition: {}", at_ + 1, what));
    }

    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }

    static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

    bool take(std::string_view symbol) {
        skip();
        if (!text_.substr(at_).starts_with(symbol)) return false;
        const std::size_t end = at_ + symbol.size();
        if (is_word(symbol.back()) && end < text_.size() && is_word(text_[end])) return false;
        at_ = end;
        return true;
    }

    static Tree make(std::string op, Tree left, Tree right) {
        return std::make_shared<Term>(
            Term{std::move(op), 0, {}, std::move(left), std::move(right)});
    }

    /// Reads a left-associative chain of one level, in a loop and not by recursion.
    Tree binary(std::size_t level) {
        if (level == kLevels.size()) return unary();
        Tree left = level == 2 && take("not") ? make("not", nested([&] { return binary(2); }), {})
                                              : binary(level + 1);
        for (int length = 0;; ++length) {
            const auto& symbols = kLevels[level];
            const auto found = std::ranges::find_if(
                symbols, [&](std::string_view s) { return !s.empty() && take(s); });
            if (found == symbols.end()) return left;
            if (length > kDeepest) fail("the condition is too long");
            left = make(std::string(*found), left, binary(level + 1));
        }
    }

    Tree unary() {
        if (take("-")) return make("negate", nested([&] { return unary(); }), {});
        return primary();
    }

    Tree nested(const auto& parse) {
        if (++depth_ > kDeepest) fail("the condition is nested too deeply");
        Tree tree = parse();
        --depth_;
        return tree;
    }

    Tree primary() {
        skip();
        if (take("(")) {
            Tree tree = nested([&] { return binary(0); });
            if (!take(")")) fail("')' is missing");
            return tree;
        }
        if (at_ >= text_.size()) fail("a value is missing");
        const char c = text_[at_];
        if (c == '\'' || c == '"') return quoted(c);
        if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
        if (is_word(c)) return key();
        fail(fmt::format("'{}' is not expected here", c));
    }

    Tree quoted(char quote) {
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) fail("the closing quote is missing");
        const std::string text(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return std::make_shared<Term>(Term{"text", 0, text, {}, {}});
    }

    Tree number() {
        std::size_t end = at_;
        while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.')) ++end;
        const auto value = text::parse_real(text_.substr(at_, end - at_));
        if (!value) fail(fmt::format("'{}' is not a number", text_.substr(at_, end - at_)));
        at_ = end;
        return std::make_shared<Term>(Term{"number", *value, {}, {}, {}});
    }

    Tree key() {
        std::size_t end = at_;
        while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.')) ++end;
        const std::string name(text_.substr(at_, end - at_));
        at_ = end;
        if (std::ranges::find(*keys_, name) == keys_->end()) keys_->push_back(name);
        return std::make_shared<Term>(Term{"key", 0, name, {}, {}});
    }

    std::string_view text_;
    std::vector<std::string>* keys_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

bool truth(const ExpressionValue& value) {
    if (const double* number = std::get_if<double>(&value)) return *number != 0;
    return !std::get<std::string>(value).empty();
}

double number_of(const ExpressionValue& value, std::string_view op) {
    if (const double* number = std::get_if<double>(&value)) return *number;
    throw InputError(
        fmt::format("'{}' needs numbers, but '{}' is not one", op, std::get<std::string>(value)));
}

double arithmetic(const std::string& op, double a, double b) {
    if ((op == "/" || op == "%") && b == 0)
        throw InputError(fmt::format("{} {} 0 has no value", a, op));
    if (op == "+") return a + b;
    if (op == "-") return a - b;
    if (op == "*") return a * b;
    if (op == "/") return a / b;
    if (op == "%") return a - b * std::floor(a / b);
    if (op == "<") return a < b;
    if (op == "<=") return a <= b;
    if (op == ">") return a > b;
    return a >= b;
}

ExpressionValue value_of(const Term& node, const Lookup& lookup) {
    if (node.op == "number") return node.number;
    if (node.op == "text") return node.text;
    if (node.op == "key") return lookup(node.text);
    const ExpressionValue left = value_of(*node.left, lookup);
    if (node.op == "not") return truth(left) ? 0.0 : 1.0;
    if (node.op == "negate") return -number_of(left, "-");
    if (node.op == "and" && !truth(left)) return 0.0;
    if (node.op == "or" && truth(left)) return 1.0;
    const ExpressionValue right = value_of(*node.right, lookup);
    if (node.op == "and" || node.op == "or") return truth(right) ? 1.0 : 0.0;
    if (node.op == "==") return left == right ? 1.0 : 0.0;
    if (node.op == "!=") return left != right ? 1.0 : 0.0;
    return arithmetic(node.op, number_of(left, node.op), number_of(right, node.op));
}

}  // namespace

Expression::Expression(const std::string& text) : text_(text) {
    if (text.size() > kLongest) throw InputError("the condition is too long");
    root_ = Parser(text_, keys_).parse();
}

ExpressionValue Expression::evaluate(const Lookup& lookup) const {
    return value_of(*root_, lookup);
}

bool Expression::holds(const Lookup& lookup) const {
    return truth(evaluate(lookup));
}

}  // namespace debubble::scenarios
