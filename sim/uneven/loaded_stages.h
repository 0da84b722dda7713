#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/graph/stage_sizes.h"
#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/memory/loaded_pass.h"
#include "sim/memory/rank_stages.h"

/// The stages of a program whose layers with experts get other loads in every microbatch.
namespace debubble::sim {

/// The tokens of a layer with experts.
class LayerRows {
public:
    LayerRows(const scenarios::Scenario& scenario, int layer, double higher);

    int layer() const { return layer_; }
    /// The position of a load's tokens between those of the even load and those of the higher one.
    double share(double load) const;

private:
    /// Tokens over an expert's capacity are dropped.
    double capped(double load) const { return std::min(load, most_.value_or(load)); }

    int layer_;
    std::optional<double> most_;
    models::ExpertRows rows_;
    std::int64_t even_;
    std::int64_t between_;
};

/// The memory of a pass, as sums.
struct PassSums {
    Bytes held_after;
    Bytes peak_above;
    Bytes unsharded;
};

/// The passes of the program's stages at any loads. Immutable after construction except for even(),
/// which a single thread calls. Loads are given as shares of tokens, by layer with experts
/// (LayerRows).
class LoadedStages {
public:
    /// `memory` is that of the scenario itself. All references outlive it.
    LoadedStages(const scenarios::Scenario& scenario,
                 const std::vector<models::StageContent>& contents, const Program& program,
                 const MemoryModel& memory);

    /// False where larger tensors are offloaded that smaller ones are not: then bytes are not
    /// linear in tokens, and the functions below must not be called.
    bool are_lines() const { return are_lines_; }
    const scenarios::Scenario& even_scenario() const { return even_scenario_; }
    const RankStages& even() const { return even_; }
    const models::StageGraph& graph(const Compute& c) const { return *stages_[row(c)].loads.even; }
    const std::vector<LayerRows>& rows(Stage stage) const { return rows_[stage]; }
    bool runs_again(Stage stage) const { return again_[stage]; }

    PassSums of(const Compute& c, std::span<const double> shares) const;
    /// For a forward that a Recompute repeats.
    PassSums again(const Compute& forward, std::span<const double> shares) const;
    PassSums at_once(const Overlap& o, std::span<const double> of_first,
                     std::span<const double> of_second) const;
    Bytes input_of(const Compute& forward) const;
    /// The bytes of a tensor of a pass's stage; unset if they do not depend on loads.
    std::optional<Bytes> bytes_of(const Compute& c, std::size_t tensor,
                                  std::span<const double> shares) const;

private:
    struct StagePasses {
        TwoLoads loads;
        std::vector<std::optional<std::size_t>> layers;  ///< by tensor
        ArrayBy<Pass, std::optional<LoadedPiece>, 4> whole;
        ArrayBy<Pass, std::optional<LoadedTurns>, 4> turns;
        std::optional<LoadedPiece> again;
    };
    std::size_t row(const Compute& c) const;
    const LoadedTurns& turns(const Compute& c) const;
    void add_stage(std::size_t index, const std::vector<models::StageContent>& contents);
    void add(const Action& action);
    void add(const Compute& c);

    const scenarios::Scenario& scenario_;
    const MemoryModel& memory_;
    double higher_load_;
    scenarios::Scenario even_scenario_;
    scenarios::Scenario higher_scenario_;
    RankStages even_;
    RankStages higher_;
    int slices_;
    IndexedBy<Stage, std::size_t> built_as_;  ///< the first stage with its graph
    std::vector<StagePasses> stages_;         ///< by such a stage and slice
    IndexedBy<Stage, std::vector<LayerRows>> rows_;
    IndexedBy<Stage, bool> again_;  ///< whether its forward is recomputed
    bool are_lines_ = true;
};

/// The scenario with another load of experts.
scenarios::Scenario with_load(scenarios::Scenario scenario, double load);

}  // namespace debubble::sim
