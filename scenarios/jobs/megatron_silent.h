#pragma once

#include <string_view>

namespace debubble::jobs {

/// True for an argument of Megatron-LM that changes no plan and whose whole name is known: those of
/// megatron/training/arguments.py and of the dataclasses from which it generates arguments
/// (Megatron-LM d98e8a64dd), of torchrun and of Slurm's srun. `name` has underscores and no dashes.
bool is_silent_by_name(std::string_view name);

}  // namespace debubble::jobs
