#pragma once

#include <string_view>

namespace debubble::jobs {

/// True for an argument of Megatron-LM, of torchrun or of Slurm's srun that changes no plan and
/// whose whole name is listed here. The list need not be complete: an argument that is missing in
/// it and looks like one of these is named in a note. `name` has underscores and no dashes.
bool is_silent_by_name(std::string_view name);

}  // namespace debubble::jobs
