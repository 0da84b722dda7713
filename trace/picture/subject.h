#pragma once

#include <optional>
#include <span>
#include <string>

#include "schedule/action.h"

/// The stage, microbatch and kind of an action.
namespace debubble::picture {

/// The stage and microbatch of an action: for an Overlap those of its first compute, for a message
/// those of its producer.
struct Subject {
    std::optional<Stage> stage;
    std::optional<MicroBatch> micro_batch;
};
Subject subject_of(const Action& action);

/// The kind in the words of the text form: "F", "SEND", "REDUCE_GRAD".
const std::string& kind_of(const Action& action);
/// All values of kind_of().
std::span<const std::string> kinds();

}  // namespace debubble::picture
