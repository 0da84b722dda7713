#pragma once

#include <string>
#include <string_view>

#include "scenarios/plan/scenario.h"

namespace debubble::scenarios {

/// "megatron-2026 has no dualpipe-v" where the framework's software lacks the scenario's schedule;
/// else empty. A schedule from a file always passes: whoever writes it has software that runs it.
std::string lacking_schedule(const Scenario& scenario);

/// True for a sentence of that function.
bool says_schedule_is_lacking(std::string_view reason);

}  // namespace debubble::scenarios
