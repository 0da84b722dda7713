#pragma once

#include <functional>
#include <memory>

#include "exec/core/stage/passes/pass_run.h"
#include "exec/core/stage/stage_runner.h"

namespace debubble::exec {

/// The pass in turns with another one. `at_end` is called when its result has been taken.
std::unique_ptr<PassInTurns> turns_of_pass(StageParts& parts, const PassAsked& asked,
                                           std::function<void()> at_end = {});

}  // namespace debubble::exec
