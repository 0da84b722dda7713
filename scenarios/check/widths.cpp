#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "models/graph/graph.h"
#include "models/network/layers.h"
#include "scenarios/check/parts.h"
#include "scenarios/plan/derived.h"

/// The widths that 8-bit and 4-bit GEMMs take.
namespace debubble::scenarios {
namespace {

/// The first layer of each kind whose products are in 8 or 4 bits.
std::vector<int> quantised_layers(const models::Layers& layers, const models::LowPrecision& how) {
    std::vector<int> found;
    std::vector<bool> seen(layers.kinds().size());
    for (int layer = 0; layer < layers.count(); ++layer) {
        if (seen[layers.kind_of(layer)] || !how.quantises(layer)) continue;
        seen[layers.kind_of(layer)] = true;
        found.push_back(layer);
    }
    return found;
}

}  // namespace

/// Precondition: the other checks of how the model is cut have been made; where one of them has
/// complained, the sizes of products are not known.
void check_widths(Draft& draft) {
    const Scenario& s = draft.scenario;
    if (s.training.precision.recipe == models::Recipe::None || !draft.mistakes().empty()) return;
    const models::Execution execution = execution_of(s);
    std::set<std::string> said;  // several kinds of layers may have one mistake
    for (const int layer : quantised_layers(s.model.layers, execution.low_precision)) {
        try {
            const int first = models::beginning_at(s.model.layers, layer);
            models::build_stage(s.model, execution, {first, layer - first + 1, false, false},
                                models::ExpertParameters::Counted);
        } catch (const InputError& error) {
            for (const Diagnostic& mistake : error.diagnostics())
                if (said.insert(mistake.message).second)
                    draft.training.complain("precision", mistake.message);
        }
    }
}

}  // namespace debubble::scenarios
