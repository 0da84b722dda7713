#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec/core/stage/operators/offloaded_tensors.h"
#include "exec/core/stage/operators/operator_call.h"
#include "exec/core/stage/operators/run_operator.h"
#include "exec/core/stage/stage_runner.h"
#include "exec/core/stage/stage_tools.h"
#include "models/graph/operator_runs.h"
#include "schedule/action.h"

/// The passes of a stage, operator by operator, and what they share. Private to the folder.
namespace debubble::exec {

// The time of every operator, for a listener.

/// A processor computes within the call and is timed by the host's clock. A device's operators are
/// timed by marks on its compute lane, while the host runs ahead as in training: the time of a
/// launch counts only where the device waits for it.
class OperatorClock {
public:
    explicit OperatorClock(const StageTools& tools)
        : lanes_(tools.lanes), tell_(tools.on_operator), tell_of_sharding_(tools.on_sharding) {}

    /// The next operator call starts at this moment.
    void begin();
    void end(const models::StageGraph& graph, const models::Operator& op, models::Part part);
    /// The time since the last operator call went to the parameters and belongs to no operator. The
    /// host waited for `waited` of it.
    void end_sharding(std::chrono::nanoseconds waited);
    /// The device, if there is one, has finished the step.
    void end_step();

private:
    /// An interval of one operator. The graph outlives the step.
    struct Timed {
        const models::StageGraph* graph;
        const models::Operator* op;  ///< nullptr: work for the parameters
        models::Part part;
        MarkedInterval when;
    };

    DeviceLanes* lanes_;
    OperatorListener tell_;
    ShardingListener tell_of_sharding_;
    Clock::time_point begin_;
    Mark begin_mark_;
    std::vector<Timed> timed_;  ///< intervals of this step, on a device
};

/// A slice of the sequence with its graph and the order of its passes.
struct SlicePlan {
    models::StageGraph graph;
    models::RunsByPass fused;
    models::RunsByPass split;
};

/// The state that the passes of a stage share: its slices, its tensors, those that are offloaded,
/// and the clock.
struct StageParts {
    /// `graphs`: one for each slice of the sequence, or one for all of them.
    StageParts(std::vector<models::StageGraph> graphs, const StageTools& tools);

    const SlicePlan& slice_of(const MicroBatch& micro_batch) const;
    /// Makes room for the tensors that the call needs, except one.
    void make_room(const MicroBatch& micro_batch, const models::StageGraph& graph,
                   const models::OperatorRun& run, std::optional<int> but);
    /// Writes an action into the log, if there is one.
    void did(const Action& action);

    StageMemory state;
    std::vector<SlicePlan> slices;
    OffloadedTensors offloaded;
    ModuleOffloads module_offloads;
    OperatorClock clock;

private:
    ArenaTensor allocate(const models::Tensor& tensor, const RoutedPass& pass);
    void make_room(const MicroBatch& micro_batch, const models::StageGraph& graph, int index,
                   std::optional<int> layer);
};

/// A pass, as it is asked of a stage.
struct PassAsked {
    Pass meant{};
    MicroBatch micro_batch;
    const std::vector<models::OperatorRun>& runs;
    std::optional<int> kept;  ///< tensor that is returned where the plan would free it
    bool again = false;
    /// Whether the parameters are opened and closed layer by layer: not for a forward that is
    /// overlapped with another pass, since all parameters are gathered then.
    bool opens = true;
};

/// A pass, operator by operator.
class PassRun {
public:
    /// Keeps references to its arguments' slice and runs.
    PassRun(StageParts& parts, const PassAsked& asked);

    bool is_over() const { return at_ == runs().size(); }
    std::size_t position() const { return at_; }  ///< number of the next run
    /// Precondition of these two: the pass is not over.
    const models::Operator& coming() const { return graph_.operators[runs()[at_].op]; }
    models::Part coming_part() const { return runs()[at_].part; }

    /// Runs the next operator, or two as one call.
    void next();
    /// Launches the next operator, an all-to-all of routed tokens.
    void ask();
    /// Waits for it.
    Interval await();
    /// Precondition: the pass is over.
    ArenaTensor end();

private:
    const std::vector<models::OperatorRun>& runs() const { return asked_.runs; }
    StageParameters& parameters() const { return parts_.state.tools.parameters; }
    OperatorCall call_of(const models::OperatorRun& run) const;
    void start(const models::OperatorRun& run, const OperatorCall& call);
    void end(const models::OperatorRun& run, const OperatorCall& call);
    void two(const OperatorPair& pair, const models::OperatorRun& run, const OperatorCall& call);
    void open_for(const models::Operator& op);
    void end_sharding();
    void free(const models::OperatorRun& run);

    StageParts& parts_;
    const PassAsked asked_;
    const models::StageGraph& graph_;
    LiveTensors& live_;
    std::chrono::nanoseconds waited_;
    std::size_t at_ = 0;
    ArenaTensor result_;
    std::vector<models::Part> called_;
    /// An operator of the layer whose parameters are open.
    const models::Operator* opened_ = nullptr;
    Pending all_to_all_;
    const models::OperatorRun* all_to_all_run_ =
        nullptr;  ///< the run whose all-to-all is in flight
};

/// A pass that is overlapped with another one. `at_end` is called when its result has been taken.
std::unique_ptr<OverlappedPass> overlapped_pass(StageParts& parts, const PassAsked& asked,
                                                std::function<void()> at_end = {});

}  // namespace debubble::exec
