#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace debubble {

/// The actions of one rank in a step, reported by the code that did the work and not taken from the
/// list to carry out: a stage reports which pass its operators ran, the training which collective
/// and step it started, the messages what was sent, requested and delivered. It checks every step
/// of a run, whereas a trace (executed_in_order) checks one, with its times.
struct ActionLog {
    /// Passes, sends, collectives, copies and optimizer steps, in the order of the rank's thread.
    /// An Overlap appears as both of its passes.
    std::vector<Action> actions;
    std::vector<Recv> receives;    ///< in the order in which they were requested
    std::vector<Message> results;  ///< messages that computes and sends used, in that order
    friend bool operator==(const ActionLog&, const ActionLog&) = default;

    void clear();
};

/// The log of a rank that carries out its list in order. A receive may be requested early, but not
/// before another receive.
ActionLog log_of(const ActionList& list, int stage_count);

/// The first place where the log differs from the expected one, as the end of a sentence about the
/// rank: "ran 1F2 where its list has 1F1 (action 3 of 18)". Nothing if they are equal.
std::optional<std::string> first_difference(const ActionLog& expected, const ActionLog& log);

}  // namespace debubble
