#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "scenarios/plan/plan.h"
#include "scenarios/plan/scenario.h"
#include "sim/memory/bytes_of_tensors.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/rank_ledger.h"
#include "sim/uneven/drawn_memory_figures.h"
#include "sim/uneven/loaded_stages.h"
#include "trace/trace.h"

/// The memory of steps with drawn loads of experts. In every layer and microbatch of a draw the
/// planned rank holds as many tokens as the fullest rank gets, as with a load that is given by
/// training.expert_load: no rank of the drawn step holds more. Messages, gathers and copies have
/// the times of a step whose layers and microbatches all have the mean load; everything else is
/// exact for the loads of the draw.
namespace debubble::sim {

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
    std::optional<scenarios::Scenario> high_;  ///< with the highest load, if planned for that
    std::unique_ptr<const MemoryModel> memory_;
    BytesOfTensors bytes_;  ///< of the pipeline that decides; empty if those of `high_` apply
};

}  // namespace debubble::sim
