#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The conditions of a grid: "parallel.tensor * parallel.pipeline <= 64 and schedule.name !=
/// 'gpipe'". Numbers are doubles; texts are in quotes and can be compared for equality only;
/// operators are those of Python: or, and, not, == != < <= > >=, + -, * / %, parentheses.
namespace debubble::scenarios {

using ExpressionValue = std::variant<double, std::string>;

/// A function that gives the value of a dotted key.
using Lookup = std::function<ExpressionValue(const std::string& key)>;

class Expression {
public:
    /// Throws InputError that names the column of the mistake in the text, in words.
    explicit Expression(const std::string& text);

    /// The keys that it refers to, each once.
    const std::vector<std::string>& keys() const { return keys_; }

    /// Throws InputError for arithmetic on texts, and for a division by zero.
    ExpressionValue evaluate(const Lookup& lookup) const;
    /// True if the value is neither 0 nor empty.
    bool holds(const Lookup& lookup) const;

    struct Node;

private:
    std::string text_;
    std::shared_ptr<const Node> root_;
    std::vector<std::string> keys_;
};

}  // namespace debubble::scenarios
