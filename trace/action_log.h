#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace debubble {

/// What one rank has done in a step, told by those who did it and not by the list that they were
/// to carry out: a stage says which pass its operators ran, the training which collective and step
/// it began, the messages what was sent, asked for and handed on. Proves every step of a run, where
/// a trace (executed_in_order) proves one, with its times.
struct ActionLog {
    /// Passes, sends, collectives, copies and optimizer steps, in the order of the rank's thread.
    /// Of an Overlap both passes.
    std::vector<Action> actions;
    std::vector<Recv> receives;    ///< that were asked for, in that order
    std::vector<Message> results;  ///< that computes and sends took, in that order
    friend bool operator==(const ActionLog&, const ActionLog&) = default;

    void clear();
};

/// The log of a rank that does what its list says, in that order. A receive may be asked for ahead
/// of its turn, but not ahead of another.
ActionLog log_of(const ActionList& list, int stage_count);

/// Where the log leaves the expected one first, as the end of a sentence about the rank: "ran 1F2
/// where its list has 1F1 (action 3 of 18)". Nothing if they are equal.
std::optional<std::string> first_difference(const ActionLog& expected, const ActionLog& log);

}  // namespace debubble
