#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "exec/core/communicator/communicator.h"

/// Ranks that are processes read scenario, data and checkpoint each by itself: before the first
/// step they compare whether all of them run the same.
namespace debubble::exec {

/// A fact that must be equal on all ranks. Its name is unique in the list.
struct Fact {
    std::string what;         ///< such as "training.optimizer.lr"
    std::string value;        ///< such as "0.001"
    std::string advice = {};  ///< what to do if it differs, unless that is plain
    friend bool operator==(const Fact&, const Fact&) = default;
};
using RunFacts = std::vector<Fact>;

/// A mistake that all ranks have found together: only one of them reports it.
class KnownToAll : public InputError {
    using InputError::InputError;
};

/// A text such as "rank 1" or "ranks 0-2 and 5". `ranks` are in order, at least one.
std::string words_for_ranks(const std::vector<int>& ranks);

/// Compares the facts of all ranks; a collective over them. Throws KnownToAll on every rank, with a
/// sentence for each fact that differs, in the order of the list, which says which ranks have which
/// value.
void check_same_run(Communicator& world, const RunFacts& mine, std::chrono::nanoseconds patience);

/// Checks before the first step that the `folder` in which each rank saves its part of a checkpoint
/// is the same for all, since hosts may have different folders of one name; a collective over all
/// ranks. Rank 0 writes a file there, the others look for it, and all try to write; nothing is
/// left. Throws KnownToAll on every rank, which names those that see another folder or cannot write
/// in it; WorldError if rank 0 cannot.
void check_folder_is_shared(Communicator& world, const std::filesystem::path& folder,
                            std::chrono::nanoseconds patience);

}  // namespace debubble::exec
