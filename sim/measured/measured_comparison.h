#pragma once

#include <optional>
#include <string>

#include "sim/measured/measured_table.h"
#include "sim/plan/prediction.h"

/// A measured row beside its prediction.
namespace debubble::sim {

/// A figure that was measured, and what is predicted for it.
struct Compared {
    double measured = 0;
    double predicted = 0;
    double error() const { return predicted / measured - 1; }  ///< as a share
};

struct MeasuredComparison {
    MeasuredStep step;
    /// Why the row cannot be predicted: a key or a name that debubble does not know, or a plan that
    /// it refuses. Unset for a row that is predicted.
    std::optional<std::string> unsaid;
    std::string chosen;  ///< "micro_batch 2", where the row does not state it
    bool fits = false;   ///< the device holds it, as predicted
    MemoryVerdict memory_verdict = MemoryVerdict::Fits;
    StepClass like;                       ///< class of its step; empty for a collective
    std::string gpu;                      ///< name of the cluster, whose GPUs are of one type
    std::optional<Compared> time;         ///< seconds of a step, or of a collective
    std::optional<Compared> memory;       ///< GiB of the rank and kind that were measured
    std::optional<Compared> held;         ///< GiB between two steps
    std::optional<Compared> activations;  ///< GiB
    /// FLOPs per GPU and step, recomputation included, or bytes on the bus of a GPU: the work that
    /// a null model divides.
    double work = 0;
    double null_s = 0;  ///< by the rate per GPU that fits all compared rows of its kind best
    std::optional<double> null_of_others_s;  ///< by those that fit the other rows of its GPU best
};

}  // namespace debubble::sim
