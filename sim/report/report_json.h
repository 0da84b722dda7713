#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/predict.h"

namespace debubble::sim {

/// The JSON of `simulate --json` for one scenario: times in seconds, memory in bytes, null where a
/// figure is unknown. The keys are a contract (docs/definitions.md defines them); keys are added,
/// never renamed.
nlohmann::ordered_json report_json(const PredictionWithTrace& answer);

}  // namespace debubble::sim
