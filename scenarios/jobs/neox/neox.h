#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/jobs/read/reading.h"

/// The parts of GPT-NeoX's reader. Private to the folder.
namespace debubble::jobs {

/// The GPUs that the file or the command line says.
std::optional<std::int64_t> neox_gpus(Reading& job);

/// Refuses networks and trainings of GPT-NeoX that are not planned, notes what the plan lacks, and
/// counts what changes no plan.
void check_neox(Reading& job);

/// Adds the network's settings under Megatron-LM's names.
void settle_neox_network(Reading& job);

/// Adds the kernel of attention; `layers` is 0 where the network's number is not known.
void settle_neox_attention(Reading& job, std::int64_t layers);

/// Writes the keys of the network that Megatron-LM's names do not say; call it after them.
void finish_neox_network(Reading& job);

}  // namespace debubble::jobs
