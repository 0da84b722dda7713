#pragma once

#include "scenarios/jobs/read/reading.h"

/// Flags that slime has beside Megatron-LM's. Private to the folder.
namespace debubble::jobs {

/// True for a job of slime's training: it has rollouts.
bool is_slime(Settings& in);

/// Counts, notes or refuses a flag of slime's own; false for one that is none.
bool sort_slime_flag(Reading& job, const Setting& setting);

}  // namespace debubble::jobs
