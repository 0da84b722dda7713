#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <variant>
#include <vector>

#include "scenarios/plan/plan.h"
#include "scenarios/plan/scenario.h"
#include "sim/memory/bytes_of_tensors.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/rank_ledger.h"
#include "sim/uneven/loaded_stages.h"
#include "sim/uneven/uneven_figures.h"
#include "trace/trace.h"

/// The memory of steps with drawn loads of experts: of one pipeline, and of the pipeline that
/// decides whether a plan fits.
namespace debubble::sim {

/// The tokens that every stage and microbatch of one pipeline gets, as shares (LayerRows).
class PipelineRows {
public:
    PipelineRows(const scenarios::Scenario& scenario, const LoadedStages& stages,
                 DrawnPipeline pipeline, int stage_count);

    /// By layer with experts.
    std::span<const double> of(Stage stage, const MicroBatch& mb) const {
        return shares_[stage][mb];
    }
    std::span<const double> of(const Compute& c) const { return of(c.stage, c.micro_batch); }

private:
    /// By layer, as of().
    IndexedBy<Stage, IndexedBy<MicroBatch, std::vector<double>>> shares_;
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

// The memory of steps with drawn loads of experts. In every layer and microbatch of a draw the
// planned rank holds as many tokens as the fullest rank gets, as with a load that is given by
// training.expert_load: no rank of the drawn step holds more. Messages, gathers and copies have
// the times of a step whose layers and microbatches all have the mean load; everything else is
// exact for the loads of the draw.

class DrawnMemory {
public:
    /// `times`: those of the step with the mean load, by rank. `even` is the memory of that step.
    /// All references outlive it. Precondition: the scenario's imbalance draws routers.
    DrawnMemory(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                const Program& program, const MemoryModel& even,
                const std::vector<std::vector<ActionTimes>>& times, const std::stop_token& stop);

    const DrawnMemoryFigures& figures() const { return figures_; }
    /// The memory of the pipeline that decides whether the plan fits.
    const MemoryModel& memory() const { return *memory_; }
    /// The peaks of its ranks.
    std::vector<MemoryPeak> peaks() const;
    /// The memory that its ranks' allocators reserve.
    std::vector<Bytes> reserved() const;

private:
    void find_deciding(const LoadedStages& passes);

    const scenarios::Scenario& scenario_;
    const scenarios::Plan& plan_;
    const Program& program_;
    const MemoryModel& even_;
    const std::vector<std::vector<ActionTimes>>& times_;
    std::stop_token stop_;
    std::unique_ptr<const LoadedStages> passes_;
    DrawnMemoryFigures figures_;
    /// What the pipeline that decides allocates: the bytes of its tensors, or all of a scenario
    /// with the highest load, if steps are planned for that.
    std::variant<BytesOfTensors, scenarios::Scenario> allocates_;
    std::unique_ptr<const MemoryModel> memory_;
};

}  // namespace debubble::sim
