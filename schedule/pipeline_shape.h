#pragma once

namespace debubble {

/// The number of ranks p, stages per rank v, microbatches m and sequence slices of a pipeline.
struct PipelineShape {
    int ranks = 1;
    int stages_per_rank = 1;
    int micro_batches = 1;
    int slices = 1;  ///< above 1, every MicroBatch carries its slice
    friend bool operator==(const PipelineShape&, const PipelineShape&) = default;

    int stages() const { return ranks * stages_per_rank; }
    /// The number of computes with a split backward. A real number, since a wrong shape may have
    /// too many to count.
    double computes() const {
        return 3.0 * ranks * stages_per_rank * static_cast<double>(micro_batches) * slices;
    }
};

/// The number of computes of the largest step that can be planned: its simulation needs some eight
/// gigabytes.
inline constexpr double kMostComputes = 2e7;

}  // namespace debubble
