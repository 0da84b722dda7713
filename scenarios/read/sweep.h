#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "scenarios/read/expression.h"

/// Changes of a scenario's text: a single one, and a grid of them.
namespace debubble::scenarios {

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
struct Sweep {
    std::vector<SweepKey> keys;
    std::vector<Expression> conditions;  ///< "parallel.tensor * parallel.pipeline <= 64"
    /// Further values that a condition may refer to: every scalar of the scenario by its dotted
    /// key, the model's and cluster's numbers, and defaults of `parallel`.
    std::map<std::string, std::string> fixed;

    std::size_t points() const;
    /// The overrides of point `index`; the last key changes fastest.
    std::vector<Override> point(std::size_t index) const;
    /// True if the point meets every condition. Throws InputError where one has no value.
    bool admits(std::size_t index) const;
};

}  // namespace debubble::scenarios
