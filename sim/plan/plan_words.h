#pragma once

#include <string>

#include "scenarios/plan/scenario.h"

namespace debubble::sim {

/// The plan as "tensor 8, pipeline 8, data 2; 1f1b; 64 microbatches of 1 x 2048 tokens".
std::string plan_of(const scenarios::Scenario& scenario);

/// The framework with what differs from its profile, and every other key that the scenario gives
/// and plan_of() does not say: "megatron-2026 with dispatcher deepep; optimizer muon". Keys that
/// only a run reads are left out.
std::string settings_of(const scenarios::Scenario& scenario);

/// The same after the model and the machines: "gpt2-xl on 8 x NVIDIA A100 (dgx-a100-80gb), ...".
std::string whole_plan_of(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
