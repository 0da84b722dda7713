#pragma once

#include <chrono>
#include <filesystem>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// Checks before the first step that the `folder` in which each rank saves its part of a checkpoint
/// is the same for all, since hosts may have different folders of one name; a collective over all
/// ranks. Rank 0 writes a file there, the others look for it, and all try to write; nothing is
/// left. Throws KnownToAll on every rank, which names those that see another folder or cannot write
/// in it; WorldError if rank 0 cannot.
void check_folder_is_shared(Communicator& world, const std::filesystem::path& folder,
                            std::chrono::nanoseconds patience);

}  // namespace debubble::exec
