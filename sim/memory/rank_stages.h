#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "models/graph/graph.h"
#include "models/memory/static_memory.h"
#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/memory/built_stage.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/sharded_units.h"

namespace debubble::sim {

/// The stages of a program with the steps of their passes, built once, and the memory that they
/// hold by themselves. Everything is built at its first use, by one thread only.
class RankStages final : public MemoryModel {
public:
    /// Stages that differ only in the names of their layers can have one graph, which is faster.
    enum class Names { OfEachStage, OfOneAlike };

    /// The arguments outlive it. `contents` has one entry per stage.
    RankStages(const scenarios::Scenario& scenario,
               const std::vector<models::StageContent>& contents, const Program& program,
               Names names);

    const PlacementIndex& index() const { return index_; }
    /// The two passes of a pair take turns layer by layer (pair_memory.h).
    bool pairs_layers() const { return scenario_.schedule.pairs_layers; }
    const models::StageGraph& graph(Stage stage, int slice) const {
        return built(stage, slice).graph();
    }
    /// Whether two stages have one graph (Names::OfOneAlike).
    bool share_graph(Stage a, Stage b) const { return built_as_[a.index] == built_as_[b.index]; }
    const models::PassSteps& steps(const Compute& c) const { return known(c).steps; }
    /// The same as compute(c), played once for all microbatches.
    const PassMemory& memory_of(const Compute& c) const;
    /// The memory that is gathered and reduced inside a pass.
    HeldByPlace held_during(const Compute& c) const;

    MemoryByClass static_memory(Rank rank) const override { return level(rank).held; }
    Bytes gradients_in_backward(Rank rank) const override {
        return level(rank).gradients_in_backward;
    }
    Bytes optimizer_transient(Rank rank) const override { return level(rank).optimizer_step; }
    PassMemory compute(const Compute& c) const override { return memory_of(c); }
    /// All boundaries are alike.
    Bytes message(const Message& message) const override;
    bool keeps_messages() const override { return scenario_.framework.keeps_messages; }
    MemoryByClass left_unreduced(const Compute& c) const override;
    /// Bytes that only collectives of sharded parameters use, where they have memory of their own:
    /// the buffer of a gather, the largest with the embeddings and a layer in flight, the casts of
    /// the rank's part of the embeddings, and its share of the gradients.
    Bytes on_collective_streams(Rank rank) const;
    /// All parameters except the rank's own part.
    Bytes unsharded_bytes(Stage stage) const override;

private:
    struct KnownPass {
        const models::PassSteps& steps;
        std::optional<PassMemory> memory;
    };

    /// Index of a stage's slice in a table of all.
    std::size_t at(Stage stage, int slice) const {
        return built_as_[stage.index] * slices_ + slice;
    }
    const BuiltStage& built(Stage stage, int slice) const;
    KnownPass& known(const Compute& c) const;
    const ShardedUnits& units(Stage stage) const;
    /// The pass within DeepSpeed's limits; null without them, and of a pass that gathers nothing.
    const FetchPass* fetched(const Compute& c) const;
    PassUse use_of(const Compute& c) const {
        return sim::use_of(c.pass, index_.has_several_holders());
    }
    models::ParameterCount elements_of(Rank rank) const;
    const models::StaticMemory& level(Rank rank) const;
    models::StaticMemory level(Rank rank, const models::StaticPolicy& policy) const;

    const scenarios::Scenario& scenario_;
    const std::vector<models::StageContent>& contents_;
    const Placement& placement_;
    PlacementIndex index_;
    std::size_t slices_;
    std::optional<scenarios::GatherLimits> limits_;
    bool has_split_backwards_;           ///< some of its lists
    bool backwards_follow_;              ///< each its own forward
    std::vector<std::size_t> built_as_;  ///< by stage: the index of the one whose graph it has
    std::shared_ptr<const models::Architecture> model_;
    models::Execution execution_;
    models::ExpertParameters experts_;
    mutable std::vector<std::shared_ptr<const BuiltStage>> stages_;           ///< stage x slice
    mutable std::vector<ArrayBy<Pass, std::optional<KnownPass>, 4>> passes_;  ///< stage x slice
    mutable std::vector<std::optional<ShardedUnits>> units_;                  ///< by stage
    mutable std::vector<std::optional<FetchPlan>> fetches_;                   ///< by stage
    mutable std::vector<std::optional<FetchPlan>> fetches_of_split_;          ///< by stage
    mutable std::optional<Bytes> boundary_;
    mutable std::optional<Rank> level_of_;  ///< the rank asked for last
    mutable models::StaticMemory level_;
};

}  // namespace debubble::sim
