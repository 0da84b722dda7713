#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/core/stage/stage_parameters.h"
#include "exec/core/training/state/router_state.h"
#include "exec/core/training/state/unit_state.h"

namespace debubble::exec {

/// The place of a stage's parameters: their shard on this rank, and the ranks that share them.
struct StagePlace {
    int tensor_rank = 0;
    int shard = 0;  ///< position among the data x context ranks
    /// The data x context ranks; nullptr where there is only one. They must outlive the state.
    Communicator* replicas = nullptr;
    /// The patience with which a pass waits for them.
    std::chrono::nanoseconds patience = std::chrono::minutes(10);

    /// The place of experts' parameters among other ranks.
    struct Experts {
        StatePolicy policy;
        int tensor_rank = 0;               ///< among the ranks that cut each expert
        int shard = 0;                     ///< among those that have the same part of them
        Communicator* replicas = nullptr;  ///< these; nullptr where there is only one
    };
    std::optional<Experts> experts = {};  ///< unset: as all other parameters
};

/// The ranks among which a stage's gradients are summed; nullptr where there is only this one.
struct ReductionGroups {
    Communicator* dense = nullptr;
    Communicator* experts = nullptr;  ///< ranks of experts that have a place of their own

    explicit operator bool() const { return dense != nullptr || experts != nullptr; }
};

/// Parameters, gradients and optimizer state of one stage on one rank.
///
/// Where units are gathered inside the passes (ZeRO-3 with `wrap: layer`), a layer's parameters are
/// prefetched while the layer before it computes, and freed after use; those of embedding and head
/// (PyTorch FSDP's root) are there for the whole pass. A layer's gradients are reduced into the
/// rank's share while the next layer computes.
///
/// Where the Program says ReduceGrad, the pass before it starts the reductions layer by layer, too.
/// Under ZeRO-2 and 3 the whole gradients of at most two layers are there at once.
class TrainedStage final : public StageParameters {
public:
    /// Makes a stage whose values are all zero. Throws WorldError if the arena is full.
    TrainedStage(const models::StageGraph& graph, const StatePolicy& policy,
                 const StagePlace& place, Kernels& kernels, Arena& arena);
    TrainedStage(const TrainedStage&) = delete;
    TrainedStage& operator=(const TrainedStage&) = delete;

    TensorView value(int parameter) override;
    TensorView gradient(int parameter) override;
    TensorView buffer(int index) override { return routers_.correction(index); }
    TensorView expert_loads(int layer) override { return routers_.loads(layer); }
    void begin_pass(const PassOrder& order, PassReads reads) override;
    void open(std::optional<int> layer) override;
    void close(std::optional<int> layer) override;
    void end_pass() override;
    bool gathers_in_passes() const override { return policy_.gathers_in_passes; }
    HostTime communicated() const override { return communicated_; }

    /// Draws random weights, which have the same bits in every layout.
    void initialise(const models::Architecture& architecture, std::uint64_t seed);
    /// Tells that the next pass is the last to add to the gradients before reduce(): it starts the
    /// reductions.
    void reduce_in_next_pass() { reduces_next_ = true; }
    /// Starts the reductions of the gradients of all units that several ranks share, and returns
    /// those that are not done: first those that a pass has started over the replicas, then the
    /// others, over the ranks of `groups`. With `in_step`, these ranks make the same passes: they
    /// scatter where ZeRO shards, and leave out gradients that none of them has made since the last
    /// reduction.
    std::vector<UnitReduction> reduce(const ReductionGroups& groups, bool in_step,
                                      std::string_view label);
    /// Whether several ranks share gradients of the unit.
    bool is_shared(const UnitState& unit) const { return replicas_of(unit) != nullptr; }
    /// The ranks that share the unit's parameters; nullptr where there is only this one.
    Communicator* replicas_of(const UnitState& unit) const {
        return is_apart(unit) ? place_.experts->replicas : place_.replicas;
    }
    /// Whether ZeRO shards the gradients of some unit.
    bool shares_gradients() const;
    /// This rank's number among those that cut the parameter.
    int cutting_rank(int parameter) const {
        const bool expert = parameters_[parameter].expert;
        return expert && place_.experts ? place_.experts->tensor_rank : place_.tensor_rank;
    }
    /// Asks the ranks that own them for the parameters of all units.
    std::vector<Pending> gather(std::string_view label);
    void drop_values();
    void zero_gradients();  ///< the gradients that are held all the time

    const std::vector<models::Parameter>& parameters() const { return parameters_; }
    const models::Execution& execution() const { return execution_; }
    /// The policy of all units but experts that have a place of their own.
    const StatePolicy& policy() const { return policy_; }
    const StagePlace& place() const { return place_; }
    const std::vector<models::Buffer>& buffers() const { return buffers_; }
    RouterState& routers() { return routers_; }
    const RouterState& routers() const { return routers_; }
    std::vector<UnitState>& units() { return states_; }
    const std::vector<UnitState>& units() const { return states_; }

private:
    struct Address {
        std::size_t unit = 0;
        std::int64_t first = 0;
        Shape shape;
    };
    bool is_apart(const UnitState& unit) const { return place_.experts && unit.unit().experts; }
    Pending gather_unit(UnitState& unit, std::string_view label);
    void ask_for(std::optional<int> layer);
    bool comes_again(const UnitState& unit) const;
    void finish_reductions();
    TensorView at(const TensorView& whole, const Address& address) const;

    std::vector<models::Parameter> parameters_;
    std::vector<models::Buffer> buffers_;
    models::Execution execution_;
    int layers_;  ///< of the network; those of multi-token prediction come after them
    StatePolicy policy_;
    StagePlace place_;
    // Of hidden matrices that are units of their own.
    StatePolicy matrix_policy_;
    StatePolicy expert_matrix_policy_;
    Kernels* kernels_;
    Arena* arena_;
    std::vector<ParameterUnit> units_;
    std::vector<UnitState> states_;   ///< states of units_
    std::vector<Address> addresses_;  ///< by parameter
    RouterState routers_;

    PassOrder order_;            ///< order of the current pass
    std::size_t at_ = 0;         ///< position in it
    bool pass_gathers_ = false;  ///< whether the pass reads parameters
    bool reduces_next_ = false;
    bool reduces_ = false;                   ///< whether this pass reduces
    std::vector<Pending> gathers_;           ///< by unit: gathers asked for, and not awaited
    std::vector<UnitReduction> reductions_;  ///< reductions started, and not finished
    /// Whether each unit's reduction has started, in this pass or before reduce().
    std::vector<bool> reduced_;
    HostTime communicated_;
};

}  // namespace debubble::exec
