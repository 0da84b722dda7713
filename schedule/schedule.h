#pragma once

#include <string>
#include <vector>

#include "schedule/action.h"
#include "schedule/placement.h"

/// The order in which each rank computes, for one training step.
namespace debubble {

/// The issue order of one rank's thread.
using ActionList = std::vector<Action>;

/// An order of computes, as generators write it; each lowering pass adds one kind of action.
struct Schedule {
    std::string name;
    PipelineShape shape;
    Placement placement;
    IndexedBy<Rank, ActionList> ranks;
    friend bool operator==(const Schedule&, const Schedule&) = default;

    int stage_count() const { return placement.stage_count(); }
};

/// A lowered Schedule: every action of every rank, communication and collectives too. validate()
/// checks it, the simulator plays it and the executor runs it.
using Program = Schedule;

/// One line per rank: "0F0 0F1 0B0 0B1".
std::string to_text(const Schedule& schedule);

/// SHA-256 of the program's text and its placement; the same in simulate, run, trace and
/// checkpoint.
std::string program_hash(const Program& program);

}  // namespace debubble
