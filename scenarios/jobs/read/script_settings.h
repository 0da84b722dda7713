#pragma once

#include "scenarios/jobs/read/reading.h"
#include "scenarios/jobs/shell/value.h"

/// Flags of a launch script as settings. Private to the folder.
namespace debubble::jobs {

/// Adds the flags of the command that starts the training: the one with the most flags, or, in a
/// list of arguments, all. Names keep their dots; dashes become underscores, so "--num-layers 96"
/// is num_layers. The script's remarks become notes. Throws InputError.
void add_script(const std::shared_ptr<const text::SourceText>& source, Reading& job);
/// The same, of the settings that `wanted` takes.
void add_script(const std::shared_ptr<const text::SourceText>& source, Reading& job,
                const std::function<bool(const Setting&)>& wanted);

/// The allocator that the environment chooses (PYTORCH_CUDA_ALLOC_CONF), as a key.
void read_allocator(Reading& job);

/// The GPUs that a launcher's flags, `#SBATCH` lines or the script's variables name; unset where
/// they do not.
void read_launcher(Reading& job, World& world);

}  // namespace debubble::jobs
