#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "schedule/action.h"

namespace debubble {

/// The cost of a microbatch in a stage.
struct StageCosts {
    Duration forward{};
    Duration backward_input{};
    Duration backward_weight{};
    friend bool operator==(const StageCosts&, const StageCosts&) = default;

    Duration backward() const { return backward_input + backward_weight; }
    Duration of(Pass pass) const {
        switch (pass) {
            case Pass::Forward: return forward;
            case Pass::Backward: return backward();
            case Pass::BackwardInput: return backward_input;
            case Pass::BackwardWeight: return backward_weight;
        }
        return {};
    }
};

/// Abstract costs of a pipeline, to compare orders without a model or a cluster. Written as plain
/// numbers, one unit is one second.
struct PipelineCosts {
    std::vector<StageCosts> stages;   ///< one per stage, or a single one for all
    Duration link{};                  ///< delay of a message between two ranks
    std::optional<Duration> overlap;  ///< cost of an Overlap; the sum of its parts if unset
    friend bool operator==(const PipelineCosts&, const PipelineCosts&) = default;

    const StageCosts& of(Stage stage) const {
        return stages.size() == 1 ? stages.front() : stages[stage.index];
    }
};

/// The costs F = I = W = 1, B = 2 and free links.
inline PipelineCosts unit_costs(Duration unit = std::chrono::seconds(1)) {
    return {{{unit, unit, unit}}, Duration{}, std::nullopt};
}

}  // namespace debubble
