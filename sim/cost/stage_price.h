#pragma once

#include <array>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "schedule/action.h"
#include "sim/cost/folded_stage.h"
#include "sim/cost/passes/measured_pass.h"
#include "sim/cost/passes/muon_time.h"
#include "sim/cost/passes/pair_layers.h"
#include "sim/cost/passes/pair_time.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/cost/passes/sharding_time.h"
#include "sim/cost/price_part.h"
#include "sim/engine/cost_model.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/pair_memory.h"

namespace debubble::sim {

/// The number of elements of a stage that this rank holds when nothing is sharded over
/// data-parallel ranks.
struct StageParameters {
    ShardedUnits units;
    models::ParameterCount all;
    models::ParameterCount whole;  ///< part of these that stays whole within DeepSpeed's limits
};

/// The passes of a schedule, so that no others are priced, and their placement.
struct ScheduledPasses {
    bool fused = false;             ///< B
    bool split = false;             ///< I and W
    bool again = false;             ///< Recompute actions
    bool several_holders = false;   ///< several ranks hold its stages
    bool pairs = false;             ///< pairs whose layers overlap layers
    PairWeights weights{};          ///< of such a pair
    bool backwards_follow = false;  ///< each backward directly follows its forward
    friend bool operator==(const ScheduledPasses&, const ScheduledPasses&) = default;
};

/// The time and memory of every pass of a stage, for one slice of the sequence. Stages with the
/// same kinds of layers and the same ends have the same prices, wherever they are (layer_fold.h).
/// Keeps no reference to its arguments.
class StagePrice {
public:
    StagePrice(const scenarios::Scenario& scenario, const PassPricer& pricer,
               const models::StageContent& content, int slice, const ScheduledPasses& passes);

    const ComputeCost& of(Pass pass) const { return costs_[pass]; }
    const ComputeCost& again() const { return costs_[kAgain]; }
    const PassMemory& memory(Pass pass) const { return memory_[pass]; }
    const PassMemory& memory_again() const { return memory_[kAgain]; }
    /// The parts add up to the duration of the pass, except for the rounding of each.
    const std::vector<PricePart>& parts(Pass pass) const { return parts_[pass]; }
    const std::vector<PricePart>& parts_again() const { return parts_[kAgain]; }
    /// The communication of the pass by its purpose. For a measured pass only its proportions are
    /// known.
    const TimeByKind& by_kind(Pass pass) const { return by_kind_[pass]; }
    const TimeByKind& by_kind_again() const { return by_kind_[kAgain]; }
    const PassWork& work(Pass pass) const { return work_[pass]; }
    /// The time for which each tier's links are busy with the messages of the pass.
    const TierSeconds& busy(Pass pass) const { return busy_[pass]; }
    const TierSeconds& busy_again() const { return busy_[kAgain]; }
    TierSeconds busy_all() const;  ///< busy time of all passes together
    /// The memory that waits after the pass for its reduction (sharded_units.h).
    const MemoryByClass& left(Pass pass) const { return left_[pass]; }
    /// For pairs whose layers overlap layers; empty if there are none.
    const PairParts& pair_parts() const { return pair_parts_; }
    /// For the same pairs, the memory of the layers of each pass.
    const PassPieces& pieces(Pass pass) const { return pieces_[pass]; }
    const StageParameters& parameters() const { return parameters_; }
    /// Computed at each call.
    std::vector<StepMatrix> matrices() const { return step_matrices(stage_.graph, stage_.fold); }
    /// The bytes that a recomputed forward keeps: the input that a stage before it sends, and the
    /// tensors that later slices read.
    Bytes left_to_run_again() const { return input() + memory(Pass::Forward).stays; }
    Bytes input() const;
    Bytes boundary() const { return boundary_; }    ///< bytes of one residual stream, per rank
    Bytes sent() const { return sent_; }            ///< of the activation sent on, per rank
    Bytes sent_back() const { return sent_back_; }  ///< of the gradient sent back, per rank
    /// The graph, with at most three of its layers.
    const models::StageGraph& graph() const { return stage_.graph; }
    /// The operators without a measurement on a calibrated cluster.
    const std::set<std::string>& unmeasured() const { return unmeasured_; }

private:
    static constexpr std::size_t kAgain = 4;  // index after those of the four passes
    template <class T>
    using ByPass = ArrayBy<Pass, T, kAgain + 1>;
    /// The gathers of the passes within DeepSpeed's limits.
    struct Fetches {
        FetchPlan plan;
        FetchLanes after_forward;
        const FetchPass* pass_of(std::size_t which) const;
    };
    void plan_fetches(const scenarios::Scenario& scenario, const models::PassSteps& forward,
                      const models::PassSteps& backward, const ScheduledPasses& passes);
    ShardingTime sharding_of(const scenarios::Scenario& scenario, const PassTime& time, PassUse use,
                             std::size_t which);
    void count_parameters();
    void count_offloads();
    /// Seconds by which the host's copies of offloaded tensors exceed the kernels of a pass.
    double waits_for_host(const scenarios::Scenario& scenario, std::size_t which,
                          double kernels) const;
    /// Those copies, of which `exposed` seconds are exposed.
    KindTime copies_of_host(const scenarios::Scenario& scenario, std::size_t which,
                            double exposed) const;
    Bytes seen_by_later_slices() const;
    void price(const scenarios::Scenario& scenario, const PassPricer& pricer,
               const models::PassSteps& steps, std::size_t which, const ScheduledPasses& passes);
    double host_seconds(const scenarios::Scenario& scenario, std::size_t which,
                        int collectives) const;
    void keep_parts(std::span<const models::Kernel> kernels, const PassTime& time,
                    const std::vector<AddedTerm>& terms, std::size_t which, bool shards);
    void keep_parts(const MeasuredPass& pass, const std::vector<AddedTerm>& terms,
                    std::size_t which);
    std::vector<AddedTerm> terms_of(const scenarios::Scenario& scenario, std::size_t which) const;
    void take_measured(const scenarios::Scenario& scenario, const PassPricer& pricer,
                       const ScheduledPasses& passes);

    int layers_;
    FoldedStage stage_;
    StageParameters parameters_;
    Bytes boundary_, sent_, sent_back_;
    Bytes offloaded_;  ///< bytes that are offloaded after the forward
    ByPass<ComputeCost> costs_{};
    ByPass<PassMemory> memory_{};
    ByPass<std::vector<PricePart>> parts_;
    ByPass<PassWork> work_{};
    ByPass<TimeByKind> by_kind_{};
    ByPass<TierSeconds> busy_{};
    ByPass<MemoryByClass> left_{};
    ByPass<double> sharding_exposed_{};  ///< in seconds
    std::optional<Fetches> fetches_;     ///< only while passes are priced
    PairParts pair_parts_;
    ArrayBy<Pass, PassPieces, kAgain> pieces_;
    std::set<std::string> unmeasured_;
};

}  // namespace debubble::sim
