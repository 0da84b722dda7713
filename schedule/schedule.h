#pragma once

#include <string>
#include <vector>

#include "schedule/action.h"
#include "schedule/placement.h"

/// Who computes what, in which order, for one training step.
namespace debubble {

/// p, v, m and the number of sequence slices of a pipeline.
struct PipelineShape {
    int ranks = 1;
    int stages_per_rank = 1;
    int micro_batches = 1;
    int slices = 1;  ///< above 1, every MicroBatch carries its slice
    friend bool operator==(const PipelineShape&, const PipelineShape&) = default;

    int stages() const { return ranks * stages_per_rank; }
    /// Computes of a split backward. A real number, since a wrong shape may have too many to count.
    double computes() const {
        return 3.0 * ranks * stages_per_rank * static_cast<double>(micro_batches) * slices;
    }
};

/// Computes of the largest step that is planned: a simulation of it takes some eight gigabytes.
inline constexpr double kMostComputes = 2e7;

/// The issue order of one rank's thread.
using ActionList = std::vector<Action>;

/// Generators write computes only; each lowering pass adds one kind of action.
struct Schedule {
    std::string name;
    PipelineShape shape;
    Placement placement;
    std::vector<ActionList> ranks;  ///< indexed by rank
    friend bool operator==(const Schedule&, const Schedule&) = default;

    int stage_count() const { return placement.stage_count(); }
};

/// A lowered Schedule: every action of every rank, communication and
/// collectives too. What validate() proves, the simulator plays and the
/// executor runs.
using Program = Schedule;

/// One line per rank: "0F0 0F1 0B0 0B1".
std::string to_text(const Schedule& schedule);

/// SHA-256 of the program's text and its placement; identical in simulate,
/// run, trace and checkpoint.
std::string program_hash(const Program& program);

}  // namespace debubble
