#include "models/graph/operator_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace debubble::models {

/// Operators of no layer between two layers run with the second one.
PassTurns turns_of(const PassSteps& pass) {
    PassTurns turns;
    turns.end = pass.steps.size();
    const std::vector<TurnSteps>& parts = pass.turns;
    const auto in_layer = [](const TurnSteps& steps) { return steps.part != TurnPart::Outside; };
    const auto first = std::ranges::find_if(parts, in_layer);
    turns.before = first == parts.end()     ? turns.end
                   : first == parts.begin() ? 0
                                            : std::prev(first)->end;
    const auto rest = std::find_if(parts.rbegin(), std::make_reverse_iterator(first), in_layer);
    bool between = false;
    for (auto part = first; part != rest.base(); ++part) {
        if (part->part == TurnPart::Outside) {
            between = true;
            continue;
        }
        if (turns.layers.empty() || turns.layers.back().number != part->layer || between)
            turns.layers.push_back({part->layer, {}});
        if (std::exchange(between, false) && part->part != TurnPart::Computes)
            turns.layers.back().parts.push_back(
                {TurnPart::Computes, part->layer, std::prev(part)->end});
        turns.layers.back().parts.push_back(*part);
    }
    return turns;
}

}  // namespace debubble::models
