#pragma once

#include <vector>

#include "models/graph.h"
#include "scenarios/scenario.h"

namespace debubble::scenarios {

/// The scenario with these stages instead of its partition. Precondition: multi-token prediction is
/// where the head is.
inline Scenario with_cut(Scenario scenario, const std::vector<models::StageContent>& stages) {
    scenario.parallel.partition = Partition::Explicit;
    scenario.parallel.layers_per_stage.clear();
    for (const models::StageContent& stage : stages)
        scenario.parallel.layers_per_stage.push_back(stage.layers);
    return scenario;
}

}  // namespace debubble::scenarios
