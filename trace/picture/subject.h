#pragma once

#include <optional>
#include <span>
#include <string>

#include "schedule/action.h"

/// The subject of an action, and its kind.
namespace debubble::picture {

/// The subject of an action; of an Overlap it is its first compute's, of a message its producer's.
struct Subject {
    std::optional<Stage> stage;
    std::optional<MicroBatch> micro_batch;
};
Subject subject_of(const Action& action);

/// The kind in the words of the text form: "F", "SEND", "REDUCE_GRAD".
const std::string& kind_of(const Action& action);
/// All results of kind_of().
std::span<const std::string> kinds();

}  // namespace debubble::picture
