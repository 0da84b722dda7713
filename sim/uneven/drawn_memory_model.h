#pragma once

#include <span>
#include <vector>

#include "sim/memory/memory_model.h"
#include "sim/uneven/drawn_pipeline.h"
#include "sim/uneven/loaded_stages.h"

namespace debubble::sim {

/// The tokens that every stage and microbatch of one pipeline gets, as shares (LayerRows).
class PipelineRows {
public:
    PipelineRows(const scenarios::Scenario& scenario, const LoadedStages& stages,
                 DrawnPipeline pipeline, int stage_count);

    /// By layer with experts.
    std::span<const double> of(Stage stage, const MicroBatch& mb) const {
        return shares_[static_cast<std::size_t>(stage.index)][static_cast<std::size_t>(mb.index)];
    }
    std::span<const double> of(const Compute& c) const { return of(c.stage, c.micro_batch); }

private:
    std::vector<std::vector<std::vector<double>>> shares_;  ///< by stage, microbatch, layer
};

/// The memory of one pipeline: passes by their own loads, everything else as in the even step. For
/// a single thread.
class DrawnMemoryModel final : public MemoryModel {
public:
    /// All references outlive it.
    DrawnMemoryModel(const scenarios::Scenario& scenario, const LoadedStages& stages,
                     DrawnPipeline pipeline, const MemoryModel& even, int stage_count);

    bool per_micro_batch() const override { return true; }
    MemoryByClass static_memory(Rank rank) const override { return even_.static_memory(rank); }
    Bytes gradients_in_backward(Rank rank) const override {
        return even_.gradients_in_backward(rank);
    }
    Bytes message(const Message& message) const override { return even_.message(message); }
    bool keeps_messages() const override { return even_.keeps_messages(); }
    MemoryByClass left_unreduced(const Compute& c) const override {
        return even_.left_unreduced(c);
    }
    Bytes unsharded_bytes(Stage stage) const override { return even_.unsharded_bytes(stage); }
    Bytes optimizer_transient(Rank rank) const override { return even_.optimizer_transient(rank); }

    PassMemory compute(const Compute& c) const override;
    PassMemory recompute(const Recompute& r) const override;
    PassMemory overlap(const Overlap& o) const override;

    /// The bytes of a tensor of a stage in one microbatch; unset if they do not depend on loads.
    std::optional<Bytes> bytes_of(Stage stage, const MicroBatch& mb, std::size_t tensor) const {
        return stages_.bytes_of({Pass::Forward, stage, mb}, tensor, rows_.of(stage, mb));
    }

private:
    std::vector<Bytes> sizes(const Compute& c) const;
    PassMemory played(const Compute& c, bool again) const;
    PassPieces pieces(const Compute& c) const;

    const scenarios::Scenario& scenario_;
    const LoadedStages& stages_;
    const MemoryModel& even_;
    PipelineRows rows_;
};

}  // namespace debubble::sim
