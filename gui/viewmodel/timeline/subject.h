#pragma once

#include <optional>
#include <span>
#include <string>

#include "schedule/action.h"

/// What an action is about, and what kind it is of.
namespace debubble::gui {

/// Of an Overlap, its first compute's; of a message, its producer's.
struct Subject {
    std::optional<Stage> stage;
    std::optional<MicroBatch> micro_batch;
};
Subject subject_of(const Action& action);

/// "F", "SEND", "REDUCE_GRAD": as the text form writes it.
const std::string& kind_of(const Action& action);
/// All that kind_of() can say.
std::span<const std::string> kinds();

}  // namespace debubble::gui
