#pragma once

#include <functional>
#include <map>
#include <memory>

#include "scenarios/plan/plan.h"
#include "sim/engine/simulate.h"
#include "sim/uneven/document_groups.h"
#include "sim/uneven/packed_step.h"
#include "sim/uneven/uneven_figures.h"

namespace debubble::sim {

/// The drawn steps of a scenario that packs its documents in every step (scenarios/plan/packing.h).
/// All ranks of data x context have the same number of microbatches in a step; each rank's pipeline
/// is simulated, and the last one ends the step, since gradients are reduced over all.
class PackedSteps {
public:
    /// Packs every draw and simulates it, on `jobs` threads (0: one per core). Throws Cancelled
    /// soon after `how.stop`.
    PackedSteps(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                const SimulateOptions& how, int jobs = 0);

    const UnevenSteps& steps() const { return steps_; }
    /// The program of the median step, its costs on the rank of data x context that ends it, and
    /// those if all of its work were evenly distributed.
    const Program& program() const { return *program_; }
    const CostModel& costs() const { return *costs_; }
    const CostModel& even() const { return *even_; }

private:
    struct Played {
        Duration step{};
        int position = 0;  ///< that ends it
    };
    struct PlayedDraw {
        Played played;
        PackedFigures figures;
        Played with_equal_groups;
        double equal_micro_batches = 0;
    };
    void prepare(int draws, int jobs);
    void look_at_equal_groups(int draws, const std::function<void(int, Groups)>& look_at);
    const Program& program_of(const PackedStep& step) const;
    PackedStep step_of(int draw, Groups groups) const {
        return {*prices_, pack_documents(scenario_, draw, groups)};
    }
    PlayedDraw play(int draw) const;
    Played play(const PackedStep& step, int draw, std::optional<Rank> spared = {}) const;
    void sum_up(const std::vector<PlayedDraw>& draws);
    void find_slow_ranks(int jobs);

    scenarios::Scenario scenario_;
    scenarios::Scenario without_documents_;
    const scenarios::Plan& plan_;
    SimulateOptions how_;
    Groups groups_;
    bool compares_ = false;  ///< with the same documents in equal groups
    std::unique_ptr<const PackedPrices> prices_;
    std::map<std::size_t, scenarios::Plan> plans_;  ///< by microbatches
    UnevenSteps steps_;
    std::unique_ptr<const PackedStep> median_;
    std::vector<std::unique_ptr<const CostModel>> layers_;  ///< of the median's costs
    std::unique_ptr<const LoadCurves> curves_;
    const Program* program_ = nullptr;
    const CostModel* costs_ = nullptr;
    std::unique_ptr<const CostModel> even_;
};

}  // namespace debubble::sim
