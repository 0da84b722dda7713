#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "exec/core/communicator/communicator.h"

/// Ranks that are processes read scenario, data and checkpoint each by itself: whether all of them
/// run the same is compared before the first step.
namespace debubble::exec {

/// Something that must be alike on all ranks: its name is unique in the list.
struct Fact {
    std::string what;         ///< "training.optimizer.lr"
    std::string value;        ///< "0.001"
    std::string advice = {};  ///< what to do where it differs, if that is not plain
    friend bool operator==(const Fact&, const Fact&) = default;
};
using RunFacts = std::vector<Fact>;

/// A mistake that all ranks have found together: one of them says it.
class KnownToAll : public InputError {
    using InputError::InputError;
};

/// "rank 1", "ranks 0-2 and 5". `ranks` are in order, at least one.
std::string words_for_ranks(const std::vector<int>& ranks);

/// Collective over all ranks: each brings its own facts. Throws KnownToAll on every one of them,
/// with a sentence for each fact that differs, in the order of the list: who has which value.
void check_same_run(Communicator& world, const RunFacts& mine, std::chrono::nanoseconds patience);

}  // namespace debubble::exec
