#pragma once

#include <vector>

#include "models/graph/graph.h"
#include "models/graph/turns.h"

namespace debubble::models {

/// A pass as parts that alternate with those of another pass.
struct PassTurns {
    struct Layer {
        int number = 0;
        std::vector<TurnSteps> parts;
    };
    std::size_t before = 0;     ///< end of the steps before its layers
    std::vector<Layer> layers;  ///< in the order in which the pass runs them
    std::size_t end = 0;        ///< of the steps after them
};
PassTurns turns_of(const PassSteps& pass);

}  // namespace debubble::models
