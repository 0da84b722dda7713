#pragma once

#include <string>

#include "exec/core/stage/operators/as_executed.h"

namespace debubble::exec {

/// Throws InputError at the place in the scenario's file of the key, or of the innermost map around
/// it that is there; where `--set` or an included file has it, in the file as a whole.
[[noreturn]] void refuse_at(const std::string& scenario, const Unexecuted& part);

}  // namespace debubble::exec
