#pragma once

#include <optional>
#include <string>

#include "sim/measured/measured_table.h"
#include "sim/plan/prediction.h"

/// A measured row with its prediction.
namespace debubble::sim {

/// A measured figure and its prediction.
struct Compared {
    double measured = 0;
    double predicted = 0;
    double error() const { return predicted / measured - 1; }  ///< as a share
};

struct MeasuredComparison {
    MeasuredStep step;
    /// The reason why the row cannot be predicted: an unknown key or name, or a plan that debubble
    /// refuses. Unset for a predicted row.
    std::optional<std::string> unsaid;
    std::string chosen;  ///< "micro_batch 2", where the row does not state it
    bool fits = false;   ///< the device has room for it, as predicted
    MemoryVerdict memory_verdict = MemoryVerdict::Fits;
    StepClass like;                       ///< class of its step; empty for a collective
    std::string gpu;                      ///< name of the cluster, whose GPUs are of one type
    std::optional<Compared> time;         ///< seconds of a step, or of a collective
    std::optional<Compared> memory;       ///< GiB of the rank and kind that were measured
    std::optional<Compared> held;         ///< GiB between two steps
    std::optional<Compared> activations;  ///< GiB
    /// FLOPs per GPU and step, recomputation included, or bytes on the bus of a GPU: the work that
    /// a null model divides by its rate.
    double work = 0;
    double null_s = 0;  ///< by the rate per GPU with the best fit to all compared rows of its kind
    std::optional<double> null_of_others_s;  ///< by the rate with the best fit to the other rows of
                                             ///< its GPU
};

}  // namespace debubble::sim
