#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.h"

/// Changes of a scenario's text, a single one and a grid of them, and the conditions of a grid.
namespace debubble::scenarios {

// The conditions of a grid: "parallel.tensor * parallel.pipeline <= 64 and schedule.name !=
// 'gpipe'". Numbers are doubles; texts are in quotes and can be compared for equality only;
// operators are those of Python: or, and, not, == != < <= > >=, + -, * / %, parentheses.

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

// Changes of a scenario's text: a single one, and a grid of them.

/// An override such as `parallel.tensor=8`: the value is YAML too.
using Override = std::pair<std::string, std::string>;

/// The `sweep:` grid of a scenario: every key with the values it takes, in file
/// order (a list, or a range {from, to, step} or {from, to, factor}), and under
/// `where` the conditions that a point must meet, one or a list of them.
struct SweepKey {
    std::string key;
    std::vector<std::string> values;  ///< YAML texts
    std::vector<Diagnostic> places;   ///< place of each value: mistakes without a message
    Diagnostic place = {};            ///< where the key stands
};
/// "parallel.tensor * parallel.pipeline <= 64"
struct SweepCondition {
    Expression expression;
    Diagnostic place;  ///< where it stands
};
struct Sweep {
    std::vector<SweepKey> keys;
    std::vector<SweepCondition> conditions;
    /// Further values that a condition may refer to: every scalar of the scenario by its dotted
    /// key, the model's and cluster's numbers, and defaults of `parallel`.
    std::map<std::string, std::string> fixed;

    std::size_t points() const;
    /// The overrides of point `index`; the last key changes fastest.
    std::vector<Override> point(std::size_t index) const;
    /// True if the point meets every condition. Throws InputError where one has no value, with its
    /// place and the values that it read.
    bool admits(std::size_t index) const;
};

}  // namespace debubble::scenarios
