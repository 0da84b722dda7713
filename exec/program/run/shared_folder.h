#pragma once

#include <chrono>
#include <filesystem>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// Collective over all ranks, each of which saves its part of a checkpoint in its `folder`: asks
/// before the first step whether that is one folder, since hosts may have another of the same name.
/// Rank 0 writes a file there for which the others look, and all try to write; nothing is left.
/// Throws KnownToAll on every rank, which names those that see another folder or cannot write in
/// it; WorldError if rank 0 cannot.
void check_folder_is_shared(Communicator& world, const std::filesystem::path& folder,
                            std::chrono::nanoseconds patience);

}  // namespace debubble::exec
